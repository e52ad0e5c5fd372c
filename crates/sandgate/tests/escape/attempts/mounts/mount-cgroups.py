# tries: mount the tree of the machine's limits
# layer: seccomp
# also: caps, landlock, user
# control: escapes
# blocked: EPERM
import tempfile


def mount():
    own_mounts()
    with tempfile.TemporaryDirectory() as folder:
        syscall(NR.mount, b"none", folder.encode(), b"cgroup2", 0, None)
        syscall(NR.umount2, folder.encode(), 0)
    return "mounted"


attempt(lambda: in_child(mount))
