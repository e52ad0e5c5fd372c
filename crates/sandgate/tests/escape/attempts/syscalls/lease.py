# tries: take a lease on a file, which makes whoever opens it from outside wait
# layer: seccomp
# control: escapes
# blocked: EINVAL
def lease():
    import fcntl

    path = f"lease-{os.getpid()}"
    fd = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        return "a lease"
    finally:
        os.unlink(path)
        os.close(fd)


attempt(lease)
