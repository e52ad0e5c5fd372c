# tries: the same with a bit above the 32 that the kernel looks at, to slip past a comparison of 64 bits
# layer: seccomp
# control: escapes
# blocked: EPERM
TIOCSTI = 0x5412


def type_in():
    reader, writer = os.pipe()
    try:
        return reached(NR.ioctl, writer, TIOCSTI | 1 << 32, b"x", answers="ENOTTY")
    finally:
        os.close(reader)
        os.close(writer)


attempt(type_in)
