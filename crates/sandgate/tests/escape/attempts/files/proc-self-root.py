# tries: reach a file of the host through /proc/self/root
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: read_secret("/proc/self/root" + HOST_FILE))
