# tries: become root in a user namespace of one's own and mount there
# layer: seccomp
# also: landlock
# control: escapes
# blocked: EPERM
import tempfile


def mount_as_root():
    with tempfile.TemporaryDirectory() as folder:
        syscall(NR.unshare, CLONE_NEWUSER | CLONE_NEWNS)
        syscall(NR.mount, b"none", b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE
        syscall(NR.mount, b"none", folder.encode(), b"tmpfs", 0, None)
        syscall(NR.umount2, folder.encode(), 0)
    return "mounted in a namespace of its own"


attempt(lambda: in_child(mount_as_root))
