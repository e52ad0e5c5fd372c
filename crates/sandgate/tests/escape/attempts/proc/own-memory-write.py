# tries: open one's own memory for writing, to change pages that are read-only
# layer: landlock
# control: escapes
# blocked: EACCES
attempt(lambda: openable("/proc/self/mem", os.O_RDWR))
