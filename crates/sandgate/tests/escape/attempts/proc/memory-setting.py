# tries: open the setting that decides how memory is promised, for writing
# layer: procmask
# also: user, landlock
# control: escapes
# blocked: EACCES|EROFS|ENOENT
attempt(lambda: openable("/proc/sys/vm/overcommit_memory", os.O_WRONLY))
