# tries: give commands to the console of the machine (here a pipe, which only complains)
# layer: seccomp
# control: escapes
# blocked: EPERM
TIOCLINUX = 0x541C


def command():
    reader, writer = os.pipe()
    try:
        return reached(NR.ioctl, writer, TIOCLINUX, b"\x00", answers="ENOTTY")
    finally:
        os.close(reader)
        os.close(writer)


attempt(command)
