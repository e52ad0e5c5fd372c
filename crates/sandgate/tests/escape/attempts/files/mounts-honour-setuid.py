# tries: find a writable folder on a mount that honours the setuid bit
# layer: mount
# control: escapes
# blocked: nosuid
def honoured():
    for path in ("/mnt/data", "/home/user", "/tmp", "/dev/shm") if INSIDE else ("/",):
        if not os.statvfs(path).f_flag & os.ST_NOSUID:
            return f"{path} honours the setuid bit"
    raise Blocked("nosuid")


attempt(honoured)
