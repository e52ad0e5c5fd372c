# tries: open a socket of multipath TCP
# layer: seccomp
# control: refused EPROTONOSUPPORT because not every kernel has it
# blocked: EPROTONOSUPPORT
import socket

attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close() or "a multipath socket")
