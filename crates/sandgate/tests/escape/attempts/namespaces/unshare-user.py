# tries: make a user namespace of one's own, in which one is root
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: in_child(lambda: syscall(NR.unshare, CLONE_NEWUSER) or "root in a namespace of its own"))
