# tries: get as far as the kernel's own check of the flags of umount2
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.umount2, b"/nonexistent", 0x40000000, answers="EINVAL"))
