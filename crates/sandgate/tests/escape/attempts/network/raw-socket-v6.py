# tries: open a raw IPv6 socket, which can forge packets
# layer: seccomp
# also: caps
# control: escapes
# blocked: ESOCKTNOSUPPORT
import socket

attempt(lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58).close() or "a raw socket")
