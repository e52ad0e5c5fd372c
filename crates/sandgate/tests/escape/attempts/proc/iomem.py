# tries: read how the machine's memory is laid out
# layer: procmask
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/iomem"))
