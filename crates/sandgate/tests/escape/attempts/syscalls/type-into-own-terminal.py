# tries: type into one's controlling terminal as if somebody at its other end had
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
TIOCSTI, TIOCSCTTY = 0x5412, 0x540E


def type_in():
    outer, inner = os.openpty()
    os.setsid()
    syscall(NR.ioctl, inner, TIOCSCTTY, 0)
    syscall(NR.ioctl, inner, TIOCSTI, b"x")
    return "a key was pressed"


attempt(lambda: in_child(type_in))
