# tries: ask for the number by which the kernel knows a file, the first half of opening files without a path
# layer: seccomp
# control: escapes
# blocked: EPERM
class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]


def name():
    handle, mount_id = Handle(128), ctypes.c_int()
    syscall(NR.name_to_handle_at, AT_FDCWD, b"/usr", handle, mount_id, 0)
    return "the kernel's number of /usr"


attempt(name)
