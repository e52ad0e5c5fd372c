# tries: stop using a file that does not exist as swap space
# layer: seccomp
# also: caps, user
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.swapoff, b"/nonexistent", answers="ENOENT"))
