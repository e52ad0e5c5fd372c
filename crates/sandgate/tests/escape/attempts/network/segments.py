# tries: have the kernel cut datagrams into segments
# layer: seccomp
# control: escapes
# blocked: ENOPROTOOPT
import socket

UDP_SEGMENT = 103


def ask():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        return "granted"


attempt(ask)
