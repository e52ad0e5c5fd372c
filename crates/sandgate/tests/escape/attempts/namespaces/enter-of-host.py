# tries: enter the network namespace of a process of the host
# layer: pid
# also: seccomp, caps, user
# control: escapes
# blocked: ENOENT
def enter():
    fd = os.open(f"/proc/{HOST_PID}/ns/net", os.O_RDONLY)
    syscall(NR.setns, fd, 0)
    return "entered"


attempt(lambda: in_child(enter))
