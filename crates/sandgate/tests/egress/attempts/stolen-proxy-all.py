# tries: listen on the proxy's port on all addresses
# control: blocked because the port is taken
# blocked: EADDRINUSE
def steal():
    with socket.socket() as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.bind(("0.0.0.0", 3128))
        end.listen()
        return "the port is ours"


attempt(steal)
