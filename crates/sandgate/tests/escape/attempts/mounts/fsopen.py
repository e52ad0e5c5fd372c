# tries: begin a mount with the newer calls
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
def begin():
    os.close(syscall(NR.fsopen, b"tmpfs", 1))
    return "a file system was begun"


attempt(begin)
