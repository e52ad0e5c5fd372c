# tries: ask to be traced, the first step of changing system calls after they were checked
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: in_child(lambda: reached(NR.ptrace, 0, 0, 0, 0, answers="")))
