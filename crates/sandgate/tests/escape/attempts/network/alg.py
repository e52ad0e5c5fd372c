# tries: open a socket to the kernel's ciphers
# layer: seccomp
# control: refused EAFNOSUPPORT because this kernel is built without AF_ALG
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET, 0).close() or "a cipher socket")
