# tries: open the switch that reboots or kills everything, for writing
# layer: procmask
# also: user, landlock
# control: refused ENOENT because this kernel is built without sysrq
# blocked: EACCES|EROFS|ENOENT|empty
attempt(lambda: openable("/proc/sysrq-trigger", os.O_WRONLY))
