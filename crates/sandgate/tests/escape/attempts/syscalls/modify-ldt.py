# tries: read the table of memory segments, whose code has a history of faults
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: f"{syscall(NR.modify_ldt, 0, ctypes.create_string_buffer(8), 8)} bytes")
