# tries: signal every process there is, with a signal that does nothing
# layer: pid
# control: escapes
# blocked: ESRCH
attempt(lambda: os.kill(-1, 0) or "there is somebody else")
