# tries: handle one's own page faults, which lets attacks on the kernel win their races
# layer: seccomp
# control: escapes
# blocked: EPERM
UFFD_USER_MODE_ONLY = 1


def handle_faults():
    os.close(syscall(NR.userfaultfd, UFFD_USER_MODE_ONLY | os.O_CLOEXEC))
    return "page faults can be handled"


attempt(handle_faults)
