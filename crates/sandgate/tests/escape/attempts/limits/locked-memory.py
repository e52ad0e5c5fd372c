# tries: lock 64 MiB in memory
# layer: caps
# also: user, rlimit
# control: escapes
# blocked: ENOMEM|EPERM
import mmap


def lock():
    memory = mmap.mmap(-1, 64 << 20)
    if _libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory))), ctypes.c_size_t(64 << 20)):
        raise OSError(ctypes.get_errno(), "mlock")
    return "64 MiB"


attempt(lambda: in_child(lock))
