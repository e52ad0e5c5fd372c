# tries: send urgent data, which goes past the queue of a connection
# layer: seccomp
# control: escapes
# blocked: EOPNOTSUPP|ENOTSUP
import socket


def send():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as end:
            end.send(b"!", socket.MSG_OOB)
            return "sent"


attempt(send)
