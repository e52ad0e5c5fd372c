# tries: talk to one device of the machine by its port
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without port access
# blocked: EPERM
attempt(lambda: in_child(lambda: syscall(NR.ioperm, 0x80, 1, 1) or "one port"))
