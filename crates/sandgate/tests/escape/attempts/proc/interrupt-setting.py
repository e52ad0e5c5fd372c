# tries: open the setting that moves interrupts between processors, for writing
# layer: procmask
# also: user, landlock
# control: escapes
# blocked: EACCES|EROFS|ENOENT
attempt(lambda: openable("/proc/irq/default_smp_affinity", os.O_WRONLY))
