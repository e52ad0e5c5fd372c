# tries: read the memory of another container's process, where one's own memory lies
# layer: seccomp
# also: pid, user
# control: escapes
# blocked: EPERM|ESRCH
def read():
    target = ctypes.create_string_buffer(8)
    local = remote = Piece(ctypes.addressof(target), 8)
    return reached(NR.process_vm_readv, NEIGHBOUR_PID, local, 1, remote, 1, 0, answers="EFAULT")


attempt(read)
