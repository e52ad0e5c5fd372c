# tries: open a socket that takes packets from the network card's driver
# layer: seccomp
# also: caps
# control: escapes
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(44, socket.SOCK_RAW, 0).close() or "an XDP socket")
