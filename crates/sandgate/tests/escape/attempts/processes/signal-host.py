# tries: signal a process of the host
# layer: pid
# also: user, landlock
# control: escapes
# blocked: ESRCH
attempt(lambda: os.kill(HOST_PID, 0) or "it can be signalled")
