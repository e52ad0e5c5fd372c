# tries: find a secret in the environment of any process there is (in the control run: of the harness's own)
# layer: environment
# control: escapes
# blocked: not-found
def search():
    pids = [name for name in os.listdir("/proc") if name.isdigit()] if INSIDE else [HOST_PID]
    for pid in pids:
        try:
            return read_secret(f"/proc/{pid}/environ")
        except (OSError, Blocked):
            pass
    raise Blocked("not-found")


attempt(search)
