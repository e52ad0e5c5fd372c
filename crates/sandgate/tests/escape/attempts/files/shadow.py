# tries: open the host's password hashes
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/etc/shadow", os.O_RDONLY))
