# tries: open the list of users for writing
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: openable("/etc/passwd", os.O_WRONLY | os.O_APPEND))
