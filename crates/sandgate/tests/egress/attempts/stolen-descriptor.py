# tries: find a descriptor of a socket of the proxy's
# control: blocked because none is left open
# blocked: none-open
def find():
    for name in os.listdir("/proc/self/fd"):
        try:
            end = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        with end:
            if end.family == socket.AF_INET:
                return "a socket of the network"
    raise Blocked("none-open")


attempt(find)
