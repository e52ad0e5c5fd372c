# tries: open a file of the host with openat2, from a descriptor of the root folder
# layer: mount
# control: escapes
# blocked: ENOENT
class OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def open_from_root():
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    try:
        name = b"../.." + HOST_FILE.encode()
        fd = syscall(NR.openat2, root, name, OpenHow(os.O_RDONLY | os.O_CLOEXEC, 0, 0), ctypes.sizeof(OpenHow))
    finally:
        os.close(root)
    with os.fdopen(fd, "rb") as file:
        return secret_in(file.read(65536), "openat2")


attempt(open_from_root)
