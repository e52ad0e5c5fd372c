# tries: have the kernel write a log of processes to a file that does not exist
# layer: seccomp
# also: caps, user
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.acct, b"/nonexistent/log", answers="ENOENT"))
