# tries: read memory by process number, even if only one's own
# layer: seccomp
# control: escapes
# blocked: EPERM
def read():
    source, target = ctypes.create_string_buffer(b"here", 8), ctypes.create_string_buffer(8)
    local, remote = Piece(ctypes.addressof(target), 8), Piece(ctypes.addressof(source), 8)
    syscall(NR.process_vm_readv, os.getpid(), local, 1, remote, 1, 0)
    return "memory was read"


attempt(read)
