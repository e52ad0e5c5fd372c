# tries: make a user namespace by the 32-bit door
# layer: seccomp
# control: escapes
# blocked: SIGSYS|EPERM|ENOSYS
attempt(lambda: in_child(lambda: by_the_old_door(310, CLONE_NEWUSER, 0)))  # 310 is unshare there
