# tries: read a file of the host by its path
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: read_secret(HOST_FILE))
