# tries: exchange the root folder
# layer: seccomp
# also: caps, landlock
# control: escapes
# blocked: EPERM
attempt(lambda: in_child(lambda: reached(NR.pivot_root, None, None, answers="EFAULT")))
