# tries: find a descriptor of a file or folder among those left open
# layer: descriptors
# control: escapes
# blocked: nothing-inherited
import stat


def find():
    for fd in range(3, 1024):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
            return f"descriptor {fd} is a file or folder"
    raise Blocked("nothing-inherited")


attempt(find)
