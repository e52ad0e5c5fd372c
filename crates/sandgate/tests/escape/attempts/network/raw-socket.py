# tries: open a raw socket, which can forge packets
# layer: caps
# control: escapes
# blocked: EPERM
import socket

attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close() or "a raw socket")
