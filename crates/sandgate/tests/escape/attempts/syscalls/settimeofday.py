# tries: set the clock to an impossible time
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.settimeofday, (ctypes.c_long * 2)(0, 10_000_000), None, answers="EINVAL"))
