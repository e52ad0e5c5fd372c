# tries: read where the kernel's own code and data lie
# layer: user
# control: escapes
# blocked: EACCES
attempt(lambda: look("/proc/vmallocinfo"))
