# tries: open the memory of the sandbox's first process
# layer: user
# also: caps, landlock
# control: escapes
# blocked: EACCES|EPERM
attempt(lambda: openable(f"/proc/{INIT_PID}/mem", os.O_RDONLY))
