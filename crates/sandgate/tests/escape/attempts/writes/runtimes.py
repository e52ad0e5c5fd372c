# tries: make a file among the runtimes of other languages, which every sandbox runs
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
attempt(lambda: creatable("/opt/runtimes" if os.path.isdir("/opt/runtimes") else "/opt"))
