# tries: read every timer of the host, with kernel addresses
# layer: procmask
# also: user
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/timer_list"))
