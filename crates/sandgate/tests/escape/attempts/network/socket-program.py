# tries: attach a packet filter program to a socket
# layer: seccomp
# control: escapes
# blocked: ENOPROTOOPT
import socket
import struct

SO_ATTACH_FILTER = 26


def attach():
    program = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0xFFFF))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program)))
        return "attached"


attempt(attach)
