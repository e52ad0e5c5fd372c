# tries: reach a nameless socket of the host
# control: blocked because it is of another namespace
# blocked: ECONNREFUSED|EPERM
def connect():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect("\0{{ABSTRACT_SOCKET}}")
        return "connected"


attempt(connect)
