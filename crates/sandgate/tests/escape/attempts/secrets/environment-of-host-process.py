# tries: read the environment of a process of the host
# layer: pid
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: read_secret(f"/proc/{HOST_PID}/environ"))
