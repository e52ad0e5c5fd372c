# tries: walk up from one's own files to those of another container
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: look(os.path.join(os.getcwd(), "../" * 64 + NEIGHBOUR_FILE.lstrip("/"))))
