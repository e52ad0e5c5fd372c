# tries: take a descriptor out of a process of the host
# layer: pid
# also: seccomp, user
# control: escapes
# blocked: ESRCH
def take():
    handle = syscall(NR.pidfd_open, HOST_PID, 0)
    try:
        os.close(syscall(NR.pidfd_getfd, handle, 0, 0))
    finally:
        os.close(handle)
    return "its first descriptor"


attempt(take)
