# tries: get a handle of a process of the host
# layer: pid
# control: escapes
# blocked: ESRCH
def handle():
    os.close(syscall(NR.pidfd_open, HOST_PID, 0))
    return "a handle"


attempt(handle)
