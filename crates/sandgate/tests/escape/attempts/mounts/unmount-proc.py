# tries: take /proc with its masks away
# layer: seccomp
# also: caps, landlock, user
# control: escapes
# blocked: EPERM
def unmount():
    own_mounts()
    syscall(NR.umount2, b"/proc", 2)  # MNT_DETACH
    return "/proc is gone"


attempt(lambda: in_child(unmount))
