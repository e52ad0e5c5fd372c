# tries: take memory that even the kernel no longer maps
# layer: seccomp
# control: escapes
# blocked: EPERM
def take():
    os.close(syscall(NR.memfd_secret, os.O_CLOEXEC))
    return "secret memory"


attempt(take)
