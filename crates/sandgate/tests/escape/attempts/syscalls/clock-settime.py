# tries: set the clock to an impossible time with the newer call
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.clock_settime, 0, (ctypes.c_long * 2)(0, 10_000_000_000), answers="EINVAL"))
