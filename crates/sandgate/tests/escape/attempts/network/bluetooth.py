# tries: open a Bluetooth socket
# layer: seccomp
# control: refused EAFNOSUPPORT because this kernel is built without Bluetooth
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(31, socket.SOCK_RAW, 1).close() or "a Bluetooth socket")
