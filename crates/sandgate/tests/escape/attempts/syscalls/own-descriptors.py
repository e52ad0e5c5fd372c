# tries: give a thread descriptors of its own, where what it holds open is not seen
# layer: seccomp
# control: escapes
# blocked: EINVAL
CLOSE_RANGE_UNSHARE = 2


def part():
    syscall(NR.close_range, 9000, 9001, CLOSE_RANGE_UNSHARE)
    return "descriptors of its own"


attempt(lambda: in_child(part))
