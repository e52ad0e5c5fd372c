# tries: make a device file of one's own in the working folder and open it
# layer: caps
# also: user, seccomp
# control: escapes
# blocked: EPERM
import stat


def make_device():
    path = os.path.abspath(f".device-{os.getpid()}")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    try:
        return openable(path, os.O_RDONLY)
    finally:
        os.unlink(path)


attempt(make_device)
