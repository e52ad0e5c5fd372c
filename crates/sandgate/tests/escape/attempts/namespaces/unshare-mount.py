# tries: make a mount namespace of one's own
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
attempt(lambda: in_child(lambda: syscall(NR.unshare, CLONE_NEWNS) or "a mount namespace of its own"))
