# tries: make a file in the root folder
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: creatable("/"))
