# tries: open the setting that names the program run as root for a crash, for writing
# layer: procmask
# also: user, landlock
# control: escapes
# blocked: EACCES|EROFS|ENOENT
attempt(lambda: openable("/proc/sys/kernel/core_pattern", os.O_WRONLY))
