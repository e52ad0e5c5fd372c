# tries: open the kernel's door for announcements of devices
# layer: seccomp
# control: escapes
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(16, socket.SOCK_RAW, 15).close() or "a netlink socket")
