# tries: signal the process of another container
# layer: pid
# also: user, landlock
# control: escapes
# blocked: ESRCH
attempt(lambda: os.kill(NEIGHBOUR_PID, 0) or "it can be signalled")
