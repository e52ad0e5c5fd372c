# tries: talk to the machine's devices by their ports
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without port access
# blocked: EPERM
attempt(lambda: in_child(lambda: syscall(NR.iopl, 3) or "all ports"))
