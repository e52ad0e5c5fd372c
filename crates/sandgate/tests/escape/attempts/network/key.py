# tries: open a socket to the kernel's table of encrypted connections
# layer: seccomp
# also: caps
# control: refused EAFNOSUPPORT because this kernel is built without AF_KEY
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(15, socket.SOCK_RAW, 2).close() or "a key socket")
