# tries: put a filter that allows everything on top and ask to be traced
# layer: seccomp
# control: escapes
# blocked: EPERM
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def loosen():
    allow_all = ctypes.create_string_buffer(b"\x06\0\0\0\0\0\xff\x7f", 8)  # BPF_RET, SECCOMP_RET_ALLOW
    syscall(NR.prctl, 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    syscall(NR.seccomp, 1, 0, Program(1, ctypes.addressof(allow_all)))
    syscall(NR.ptrace, 0, 0, 0, 0)
    return "may be traced under a filter of its own"


attempt(lambda: in_child(loosen))
