# tries: take the limit on the size of files away
# layer: rlimit
# control: escapes
# blocked: EPERM
RLIMIT_FSIZE = 1


def raise_limit():
    none = 2**64 - 1
    syscall(NR.prlimit64, 0, RLIMIT_FSIZE, (ctypes.c_uint64 * 2)(none, none), None)
    return "no limit"


attempt(lambda: in_child(raise_limit))
