# tries: give a program of one's own capabilities that it has whenever it runs
# layer: caps
# control: escapes
# blocked: EPERM
import struct


def give():
    path = f".program-{os.getpid()}"
    open(path, "w").close()
    try:
        os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, 1 << 21, 0, 0, 0))
    finally:
        os.unlink(path)
    return "a program with capabilities"


attempt(give)
