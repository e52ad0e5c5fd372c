# tries: read what the kernel's memory is used for
# layer: user
# control: escapes
# blocked: EACCES
attempt(lambda: look("/proc/slabinfo"))
