# tries: make a file beside the programs in /usr/bin
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: creatable("/usr/bin"))
