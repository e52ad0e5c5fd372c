# tries: open a socket that sees every packet
# layer: seccomp
# also: caps
# control: escapes
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(17, socket.SOCK_RAW, 0).close() or "a packet socket")
