# tries: leave a root folder by the old trick: chroot deeper, keep a descriptor, walk up
# layer: seccomp
# also: caps, mount
# control: escapes
# blocked: EPERM
import tempfile


def break_out():
    with tempfile.TemporaryDirectory() as deeper:
        outside = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        os.chroot(deeper)
        os.fchdir(outside)
        for _ in range(64):
            os.chdir("..")
        os.chroot(".")
        return read_secret(HOST_FILE)


attempt(lambda: in_child(break_out))
