# tries: enter a namespace by its file, even if only one's own
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
def enter():
    fd = os.open("/proc/self/ns/uts", os.O_RDONLY)
    syscall(NR.setns, fd, 0)
    return "entered"


attempt(lambda: in_child(enter))
