# tries: get as far as the kernel's own check of new attributes of a mount
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.mount_setattr, AT_FDCWD, b"/usr", 0, None, 0, answers="EINVAL"))
