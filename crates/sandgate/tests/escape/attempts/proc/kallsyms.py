# tries: read the names and addresses of the kernel's functions
# layer: procmask
# control: escapes
# blocked: empty|EACCES|ENOENT
attempt(lambda: look("/proc/kallsyms"))
