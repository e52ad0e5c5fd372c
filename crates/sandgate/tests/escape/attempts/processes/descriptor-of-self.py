# tries: copy a descriptor through a process handle, the call that reaches into other processes
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.pidfd_getfd, 2, 0, 0, answers="EBADF EINVAL"))
