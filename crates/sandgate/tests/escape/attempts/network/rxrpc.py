# tries: open a socket of the kernel's remote procedure calls
# layer: seccomp
# control: refused EAFNOSUPPORT because this kernel is built without AF_RXRPC
# blocked: EAFNOSUPPORT
import socket

attempt(lambda: socket.socket(33, socket.SOCK_DGRAM, 2).close() or "an RxRPC socket")
