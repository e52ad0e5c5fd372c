# tries: make a file of 20 GB (with a hole in it, so that no disk is used)
# layer: rlimit
# control: escapes
# blocked: EFBIG
def grow():
    fd = os.open(f".large-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(f".large-{os.getpid()}")
    try:
        os.ftruncate(fd, 20_000_000_000)
    finally:
        os.close(fd)
    return "a file of 20 GB"


attempt(grow)
