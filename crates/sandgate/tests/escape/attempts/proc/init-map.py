# tries: read where the memory of the sandbox's first process lies
# layer: user
# also: caps, landlock
# control: escapes
# blocked: EACCES|EPERM
attempt(lambda: look(f"/proc/{INIT_PID}/maps"))
