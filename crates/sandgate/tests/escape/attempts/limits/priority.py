# tries: run before everybody else
# layer: caps
# also: user, rlimit
# control: escapes
# blocked: EPERM|EACCES
attempt(lambda: in_child(lambda: f"priority {os.nice(-5)}"))
