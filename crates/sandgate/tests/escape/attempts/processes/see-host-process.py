# tries: find a process of the host in /proc
# layer: pid
# control: escapes
# blocked: ENOENT
attempt(lambda: f"owned by {os.stat(f'/proc/{HOST_PID}').st_uid}")
