# tries: read the environment of the sandbox's first process
# layer: user
# also: caps, landlock
# control: escapes
# blocked: EACCES|EPERM
attempt(lambda: read_secret(f"/proc/{INIT_PID}/environ"))
