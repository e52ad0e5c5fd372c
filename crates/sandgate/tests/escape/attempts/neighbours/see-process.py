# tries: find the process of another container in /proc
# layer: pid
# control: escapes
# blocked: ENOENT
attempt(lambda: f"owned by {os.stat(f'/proc/{NEIGHBOUR_PID}').st_uid}")
