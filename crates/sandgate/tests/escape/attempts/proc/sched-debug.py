# tries: read the scheduler's list of all processes of the host
# layer: procmask
# also: user
# control: refused ENOENT because kernels since 5.13 no longer have /proc/sched_debug
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/sched_debug"))
