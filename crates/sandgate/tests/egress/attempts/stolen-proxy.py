# tries: listen where the proxy does
# control: blocked because the port is taken
# blocked: EADDRINUSE
def steal():
    with socket.socket() as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        end.bind(PROXY)
        end.listen()
        return "the port is ours"


attempt(steal)
