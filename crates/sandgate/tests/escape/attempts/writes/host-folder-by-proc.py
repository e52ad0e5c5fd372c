# tries: make a file in a folder of the host through /proc/self/root
# layer: mount
# also: landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: creatable("/proc/self/root" + HOST_WRITABLE))
