# tries: reach a file of the host through the root of one's own thread
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: read_secret(f"/proc/self/task/{os.getpid()}/root{HOST_FILE}"))
