# tries: open a socket to the hypervisor (without connecting)
# layer: seccomp
# control: escapes
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(40, socket.SOCK_STREAM, 0).close() or "a vsock socket")
