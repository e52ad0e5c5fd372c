# tries: open a raw socket
# control: blocked because no policy opens them
# blocked: ESOCKTNOSUPPORT
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close() or "a raw socket")
