# tries: open a performance counter, with a description of impossible size
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.perf_event_open, (ctypes.c_uint32 * 32)(0, 8), 0, -1, -1, 0, answers="E2BIG EINVAL"))
