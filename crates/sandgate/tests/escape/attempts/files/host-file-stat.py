# tries: learn whether a file of the host is there, without opening it
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: f"{os.stat(HOST_FILE).st_size} bytes are there")
