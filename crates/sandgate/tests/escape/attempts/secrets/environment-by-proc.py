# tries: find a secret of the server in the environment the process was started with
# layer: environment
# control: escapes
# blocked: other-content|empty|EACCES
attempt(lambda: read_secret("/proc/self/environ"))
