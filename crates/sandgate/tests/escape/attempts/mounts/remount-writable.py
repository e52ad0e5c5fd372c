# tries: make a read-only mount writable again
# layer: seccomp
# also: caps, landlock, user
# control: escapes
# blocked: EPERM
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 0x1000


def remount():
    own_mounts()
    if not INSIDE:
        syscall(NR.mount, b"/usr", b"/usr", None, MS_BIND, None)
        syscall(NR.mount, b"none", b"/usr", None, MS_BIND | MS_REMOUNT | MS_RDONLY, None)
    syscall(NR.mount, b"none", b"/usr", None, MS_BIND | MS_REMOUNT, None)
    return "/usr is writable"


attempt(lambda: in_child(remount))
