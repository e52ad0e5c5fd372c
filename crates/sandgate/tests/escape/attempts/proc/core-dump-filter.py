# tries: open the setting that says what a crash writes down, for writing
# layer: landlock
# control: escapes
# blocked: EACCES
attempt(lambda: openable("/proc/self/coredump_filter", os.O_WRONLY))
