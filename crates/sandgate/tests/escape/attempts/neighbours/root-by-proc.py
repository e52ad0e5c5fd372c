# tries: reach the files of another container through the root folder of its process
# layer: pid
# also: user
# control: escapes
# blocked: ENOENT
attempt(lambda: f"{len(os.listdir(f'/proc/{NEIGHBOUR_PID}/root'))} entries")
