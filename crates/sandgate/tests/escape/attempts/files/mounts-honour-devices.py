# tries: find a writable folder on a mount that honours device files
# layer: mount
# control: escapes
# blocked: nodev
def honoured():
    for path in ("/mnt/data", "/home/user", "/tmp", "/dev/shm") if INSIDE else ("/",):
        if not os.statvfs(path).f_flag & os.ST_NODEV:
            return f"{path} honours device files"
    raise Blocked("nodev")


attempt(honoured)
