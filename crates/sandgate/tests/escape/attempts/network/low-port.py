# tries: listen on a port that is kept for the system
# layer: caps
# control: escapes
# blocked: EACCES
import socket


def listen():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.bind(("127.0.0.1", 709))
        return "bound"


attempt(listen)
