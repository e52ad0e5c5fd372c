# tries: write 1.3 GiB into /dev/shm
# layer: mount
# also: cgroup, rlimit
# control: escapes
# blocked: ENOSPC|EFBIG|SIGKILL|ENOMEM
def fill():
    path, block = f"/dev/shm/.sandgate-escape-{os.getpid()}", bytes(1 << 20)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    for _ in range(1331):
        os.write(fd, block)
    return "1.3 GiB in /dev/shm"


attempt(lambda: in_child(fill))
