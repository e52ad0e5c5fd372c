# tries: connect to a nameless socket of the host, which has no file to protect it
# layer: net
# also: landlock
# control: escapes
# blocked: ECONNREFUSED|EPERM
import socket


def connect():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect("\0" + "{{ABSTRACT_SOCKET}}".lstrip("\0@"))
        return "connected"


attempt(connect)
