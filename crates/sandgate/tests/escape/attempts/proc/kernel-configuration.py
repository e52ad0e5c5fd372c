# tries: read how the host's kernel was built
# layer: procmask
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/config.gz"))
