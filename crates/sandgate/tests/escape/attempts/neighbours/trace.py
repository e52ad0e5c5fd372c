# tries: take hold of another container's process with ptrace
# layer: seccomp
# also: pid, user
# control: escapes
# blocked: EPERM|ESRCH
PTRACE_SEIZE = 0x4206


def seize():
    syscall(NR.ptrace, PTRACE_SEIZE, NEIGHBOUR_PID, 0, 0)
    return "it is being traced"


attempt(lambda: in_child(seize))
