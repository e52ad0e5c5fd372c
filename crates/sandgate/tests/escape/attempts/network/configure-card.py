# tries: set the state of the loopback card (to what it is)
# layer: caps
# also: seccomp
# control: escapes
# blocked: EPERM
import socket
import struct

SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914


def configure():
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        now = fcntl.ioctl(end, SIOCGIFFLAGS, struct.pack("16s24x", b"lo"))
        fcntl.ioctl(end, SIOCSIFFLAGS, now)
        return "the card can be configured"


attempt(configure)
