# tries: open the kernel's log through /proc
# layer: procmask
# also: user, caps
# control: escapes
# blocked: EACCES|EPERM|ENOENT|empty
attempt(lambda: openable("/proc/kmsg", os.O_RDONLY | os.O_NONBLOCK))
