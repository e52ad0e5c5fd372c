# tries: take hold of one's own parent process with ptrace
# layer: seccomp
# control: escapes
# blocked: EPERM
PTRACE_SEIZE = 0x4206


def seize():
    syscall(NR.ptrace, PTRACE_SEIZE, os.getppid(), 0, 0)
    return "the parent is being traced"


attempt(lambda: in_child(seize))
