# tries: put another protocol of the kernel on top of TCP
# layer: seccomp
# control: escapes
# blocked: ENOPROTOOPT
import socket

TCP_ULP = 31


def put():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
        # Not connected, and where the kernel has no such protocol it says that instead.
        return reached(NR.setsockopt, end.fileno(), 6, TCP_ULP, b"tls", 3, answers="ENOTCONN ENOENT")


attempt(put)
