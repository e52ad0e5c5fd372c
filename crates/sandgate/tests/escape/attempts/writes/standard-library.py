# tries: open a module of Python itself for writing
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: openable(os.__file__, os.O_WRONLY))
