# tries: read a file of the host from a descriptor that was left open
# layer: descriptors
# control: escapes
# blocked: nothing-inherited
def read_all():
    for fd in range(3, 1024):
        try:
            data = os.pread(fd, 65536, 0)
        except OSError:
            continue  # closed, a pipe or a socket
        if secret() in data:
            return f"the secret, from descriptor {fd}"
    raise Blocked("nothing-inherited")


attempt(read_all)
