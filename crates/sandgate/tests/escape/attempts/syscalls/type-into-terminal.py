# tries: type into a terminal that others read (here a pipe, which only complains)
# layer: seccomp
# control: escapes
# blocked: EPERM
TIOCSTI = 0x5412


def type_in():
    reader, writer = os.pipe()
    try:
        return reached(NR.ioctl, writer, TIOCSTI, b"x", answers="ENOTTY")
    finally:
        os.close(reader)
        os.close(writer)


attempt(type_in)
