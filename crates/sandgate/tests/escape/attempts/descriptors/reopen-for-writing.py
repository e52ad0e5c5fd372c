# tries: open a descriptor that was left open for reading once more, for writing
# layer: descriptors
# also: user, landlock
# control: escapes
# blocked: nothing-inherited
import stat


def reopen():
    for fd in range(3, 1024):
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                return openable(f"/proc/self/fd/{fd}", os.O_WRONLY)
        except OSError:
            continue
    raise Blocked("nothing-inherited")


attempt(reopen)
