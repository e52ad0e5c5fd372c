# tries: take hold of a process of the host with ptrace
# layer: seccomp
# also: pid, user
# control: escapes
# blocked: EPERM|ESRCH
PTRACE_SEIZE = 0x4206  # takes hold without stopping; the end of the child lets go


def seize():
    syscall(NR.ptrace, PTRACE_SEIZE, HOST_PID, 0, 0)
    return "it is being traced"


attempt(lambda: in_child(seize))
