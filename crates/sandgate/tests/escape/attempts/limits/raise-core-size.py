# tries: have crashes write down all memory
# layer: rlimit
# control: escapes
# blocked: EPERM
RLIMIT_CORE = 4


def raise_limit():
    none = 2**64 - 1
    syscall(NR.prlimit64, 0, RLIMIT_CORE, (ctypes.c_uint64 * 2)(none, none), None)
    return "no limit"


attempt(lambda: in_child(raise_limit))
