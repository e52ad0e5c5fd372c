# tries: read the kernel's memory as a core file
# layer: procmask
# also: user
# control: refused ENOENT because this kernel is built without /proc/kcore
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/kcore"))
