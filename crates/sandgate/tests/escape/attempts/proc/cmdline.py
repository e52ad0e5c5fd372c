# tries: read how the host's kernel was started
# layer: procmask
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/cmdline"))
