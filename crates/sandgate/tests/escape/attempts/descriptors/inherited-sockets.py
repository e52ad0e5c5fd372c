# tries: find a network socket of the server among the descriptors left open
# layer: descriptors
# control: escapes
# blocked: nothing-inherited
import socket


def find():
    for fd in range(3, 1024):
        try:
            copy = os.dup(fd)
        except OSError:
            continue
        try:
            with socket.socket(fileno=copy) as found:
                if found.family != socket.AF_UNIX:
                    return f"descriptor {fd} is a network socket"
        except OSError:
            os.close(copy)
    raise Blocked("nothing-inherited")


attempt(find)
