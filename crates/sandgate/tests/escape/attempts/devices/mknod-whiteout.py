# tries: make the one device file that the kernel lets everybody make, by which a name of an overlay is hidden
# layer: seccomp
# control: escapes
# blocked: EPERM
import stat


def make_whiteout():
    path = os.path.abspath(f".whiteout-{os.getpid()}")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(0, 0))
    os.unlink(path)
    return "a device file"


attempt(make_whiteout)
