# tries: read the list of keys the kernel holds
# layer: procmask
# also: user
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/keys"))
