# tries: make a device file with bits in the mode that the kernel does not look at
# layer: seccomp
# control: escapes
# blocked: EPERM
import stat


def make_device():
    path = os.path.abspath(f".high-{os.getpid()}")
    mode = stat.S_IFCHR | 0o600 | 1 << 16 | 1 << 40
    syscall(NR.mknodat, AT_FDCWD, path.encode(), mode, 0)
    os.unlink(path)
    return "a device file"


attempt(make_device)
