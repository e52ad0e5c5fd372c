# tries: attach to shared memory of others by its key
# layer: ipc
# control: escapes
# blocked: ENOENT
_libc.shmat.restype = ctypes.c_void_p


def attach():
    segment = syscall(NR.shmget, int("{{SYSV_KEY}}"), 0, 0)
    address = _libc.shmat(segment, None, 0o10000)  # SHM_RDONLY
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "shmat")
    data = ctypes.string_at(address, 64)
    _libc.shmdt(ctypes.c_void_p(address))
    return secret_in(data, "shared memory")


attempt(attach)
