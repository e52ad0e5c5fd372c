# tries: make a device file of the disk below /usr
# layer: caps
# also: user, seccomp
# control: escapes
# blocked: EPERM
import stat
import tempfile


def make_device():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/disk"
        os.mknod(path, stat.S_IFBLK | 0o600, os.stat("/usr").st_dev)
    return "a device file of the disk"


attempt(make_device)
