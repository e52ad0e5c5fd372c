# tries: the same with a bit above the 32 that the kernel looks at, to slip past a comparison of 64 bits
# layer: seccomp
# control: escapes
# blocked: EOPNOTSUPP|ENOTSUP
import socket


def send():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as end:
            syscall(NR.sendto, end.fileno(), b"!", 1, socket.MSG_OOB | 1 << 32, None, 0)
            return "sent"


attempt(send)
