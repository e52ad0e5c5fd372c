# tries: list the home folder of the host's administrator
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: f"{len(os.listdir('/root'))} entries")
