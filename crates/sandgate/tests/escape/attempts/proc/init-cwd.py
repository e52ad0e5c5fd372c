# tries: walk up from the working folder of the sandbox's first process
# layer: user
# also: caps, landlock, mount
# control: escapes
# blocked: EACCES|EPERM
attempt(lambda: read_secret(f"/proc/{INIT_PID}/cwd" + "/.." * 64 + HOST_FILE))
