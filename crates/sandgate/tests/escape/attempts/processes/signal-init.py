# tries: kill the sandbox's first process (in the control run: a signal that does nothing, to a process of the harness)
# layer: caps
# also: landlock
# control: escapes
# blocked: EPERM
attempt(lambda: os.kill(INIT_PID, signal.SIGKILL if INSIDE else 0) or "the signal was sent")
