# tries: change the routes of the sandbox
# control: blocked because no policy opens them
# blocked: EAFNOSUPPORT
attempt(lambda: socket.socket(16, socket.SOCK_RAW, 0).close() or "a netlink socket")
