# tries: start a process in a user namespace of its own with clone3, whose flags a filter cannot see
# layer: seccomp
# control: escapes
# blocked: ENOSYS
def start():
    arguments = (ctypes.c_uint64 * 11)(CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD)
    child = syscall(NR.clone3, arguments, ctypes.sizeof(arguments))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a process in a user namespace of its own"


attempt(lambda: in_child(start))
