# tries: have the kernel send straight out of this process's memory
# layer: seccomp
# control: escapes
# blocked: ENOPROTOOPT
import socket

SO_ZEROCOPY = 60


def ask():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
        end.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        return "granted"


attempt(ask)
