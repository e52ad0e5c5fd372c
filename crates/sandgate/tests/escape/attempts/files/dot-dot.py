# tries: walk up from the working folder, past the root, to a file of the host
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: read_secret("../" * 64 + HOST_FILE.lstrip("/")))
