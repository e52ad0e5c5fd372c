# tries: mount a second /proc, which has no masks
# layer: seccomp
# also: caps, landlock
# control: escapes
# blocked: EPERM
import tempfile


def mount():
    own_mounts()
    with tempfile.TemporaryDirectory() as folder:
        syscall(NR.mount, b"none", folder.encode(), b"proc", 0, None)
        try:
            return look(folder + "/cmdline")
        finally:
            syscall(NR.umount2, folder.encode(), 0)


attempt(lambda: in_child(mount))
