# tries: open a raw socket, which can forge packets
# layer: seccomp
# also: caps
# control: escapes
# blocked: ESOCKTNOSUPPORT
import socket

attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close() or "a raw socket")
