# tries: read the state of every page of the machine's memory
# layer: procmask
# also: user
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/kpageflags"))
