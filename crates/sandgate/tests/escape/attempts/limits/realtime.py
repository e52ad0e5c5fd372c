# tries: run as a real-time process, which others have to wait for
# layer: caps
# also: user, seccomp, rlimit
# control: escapes
# blocked: EPERM
attempt(lambda: in_child(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) or "real-time"))
