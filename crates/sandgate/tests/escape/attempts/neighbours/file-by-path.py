# tries: read a file of another container by its path on the host
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: look(NEIGHBOUR_FILE))
