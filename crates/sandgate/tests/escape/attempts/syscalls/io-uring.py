# tries: set up a ring of system calls that no filter sees
# layer: seccomp
# control: escapes
# blocked: EPERM
def set_up():
    os.close(syscall(NR.io_uring_setup, 1, (ctypes.c_uint32 * 30)()))
    return "a ring"


attempt(set_up)
