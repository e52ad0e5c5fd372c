# tries: put a folder of one's own over /etc
# layer: seccomp
# also: caps, landlock
# control: escapes
# blocked: EPERM
import tempfile


def bind():
    own_mounts()
    with tempfile.TemporaryDirectory() as folder:
        syscall(NR.mount, folder.encode(), b"/etc", None, 0x1000, None)  # MS_BIND
        syscall(NR.umount2, b"/etc", 2)
    return "/etc was covered"


attempt(lambda: in_child(bind))
