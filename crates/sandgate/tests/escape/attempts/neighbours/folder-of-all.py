# tries: list the folder that holds the files of all containers
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: f"{len(os.listdir(os.path.dirname(os.path.dirname(NEIGHBOUR_FILE))))} entries")
