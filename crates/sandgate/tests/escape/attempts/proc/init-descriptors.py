# tries: list the open descriptors of the sandbox's first process
# layer: user
# also: caps, landlock
# control: escapes
# blocked: EACCES|EPERM
attempt(lambda: f"{len(os.listdir(f'/proc/{INIT_PID}/fd'))} descriptors")
