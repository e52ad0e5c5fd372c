# tries: open a socket for packets of the wire
# control: blocked because no policy opens them
# blocked: EAFNOSUPPORT
attempt(lambda: socket.socket(17, socket.SOCK_RAW, 0x0300).close() or "a packet socket")
