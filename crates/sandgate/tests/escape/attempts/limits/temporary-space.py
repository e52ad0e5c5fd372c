# tries: set 6 GiB of space in /tmp aside
# layer: mount
# also: rlimit
# control: escapes
# blocked: ENOSPC|EFBIG
def reserve():
    path = f"/tmp/.sandgate-escape-{os.getpid()}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    try:
        os.posix_fallocate(fd, 0, 6 << 30)
    finally:
        os.close(fd)
    return "6 GiB in /tmp"


attempt(reserve)
