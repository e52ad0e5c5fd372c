# tries: open the kernel's door for network settings
# layer: seccomp
# control: escapes
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(16, socket.SOCK_RAW, 0).close() or "a netlink socket")
