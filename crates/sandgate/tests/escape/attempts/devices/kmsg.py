# tries: open the kernel's log
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
