# tries: use a file that does not exist as swap space
# layer: seccomp
# also: caps, user
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.swapon, b"/nonexistent", 0, answers="ENOENT"))
