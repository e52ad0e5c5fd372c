# tries: get as far as the kernel's own check of the descriptor of a namespace
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.setns, 0x7FFFFFFF, 0, answers="EBADF"))
