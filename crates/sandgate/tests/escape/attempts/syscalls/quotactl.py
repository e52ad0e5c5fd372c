# tries: ask the kernel about disk quotas
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.quotactl, 0x7FFF0000, b"/nonexistent", 0, None, answers="ENOENT EINVAL ENODEV ENOTBLK"))
