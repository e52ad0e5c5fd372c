# tries: connect to a socket of the host by its path, as one would to a container daemon
# layer: mount
# control: escapes
# blocked: ENOENT
import socket


def connect():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect("{{HOST_SOCKET}}")
        return "connected"


attempt(connect)
