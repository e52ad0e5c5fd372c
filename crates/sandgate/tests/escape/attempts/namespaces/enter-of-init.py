# tries: enter the mount namespace of the sandbox's first process
# layer: seccomp
# also: caps, user, landlock
# control: escapes
# blocked: EPERM|EACCES
def enter():
    fd = os.open(f"/proc/{INIT_PID}/ns/mnt", os.O_RDONLY)
    syscall(NR.setns, fd, 0)
    return "entered"


attempt(lambda: in_child(enter))
