# tries: answer the questions for names
# control: blocked because the port is taken
# blocked: EADDRINUSE|EACCES
def steal():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        end.bind(DNS)
        return "the port is ours"


attempt(steal)
