# tries: ask for the size of the kernel's log
# layer: seccomp
# also: caps, user
# control: escapes
# blocked: EPERM
attempt(lambda: f"{syscall(NR.syslog, 10, None, 0)} bytes")
