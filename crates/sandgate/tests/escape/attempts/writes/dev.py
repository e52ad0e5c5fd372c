# tries: make a file in /dev
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: creatable("/dev"))
