# tries: the same with a bit above the 32 that the kernel looks at, to slip past a comparison of 64 bits
# layer: seccomp
# control: escapes
# blocked: EAFNOSUPPORT
def open_socket():
    os.close(syscall(NR.socket, 40 | 1 << 32, 1, 0))
    return "a vsock socket"


attempt(open_socket)
