# tries: choose how a terminal's lines are handled, which loads drivers into the kernel (here the usual one)
# layer: seccomp
# control: escapes
# blocked: EPERM
TIOCSETD = 0x5423
N_TTY = 0


def choose():
    outer, inner = os.openpty()
    try:
        syscall(NR.ioctl, inner, TIOCSETD, ctypes.c_int(N_TTY))
        return "the driver can be chosen"
    finally:
        os.close(outer)
        os.close(inner)


attempt(choose)
