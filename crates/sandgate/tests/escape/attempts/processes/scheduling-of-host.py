# tries: ask on which processors a process of the host may run
# layer: pid
# control: escapes
# blocked: ESRCH
attempt(lambda: f"{len(os.sched_getaffinity(HOST_PID))} processors")
