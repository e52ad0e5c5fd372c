# tries: learn whether a file of another container is there
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: f"{os.stat(NEIGHBOUR_FILE).st_size} bytes are there")
