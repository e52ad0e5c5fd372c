# tries: make a file beside the programs through /proc/self/root
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: creatable("/proc/self/root/usr/bin"))
