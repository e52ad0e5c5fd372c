# tries: open the top folder of the disk below /usr by its number instead of its path
# layer: seccomp
# also: caps, user
# control: escapes
# blocked: EPERM
class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int), ("data", ctypes.c_uint32 * 32)]


def open_by_number():
    below = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY)
    try:
        handle = Handle(8, 1)
        handle.data[0] = 2  # the first inode of ext4; other file systems answer ESTALE, which is an answer too
        try:
            os.close(syscall(NR.open_by_handle_at, below, handle, os.O_RDONLY))
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
            return "the kernel looked the number up"
    finally:
        os.close(below)
    return "the top folder of the disk"


attempt(open_by_number)
