# tries: set an attribute of a file that the kernel keeps for the host's root
# layer: user
# also: caps
# control: escapes
# blocked: EPERM


def trust():
    path = f".trusted-{os.getpid()}"
    open(path, "w").close()
    try:
        os.setxattr(path, "trusted.overlay.opaque", b"y")
    finally:
        os.unlink(path)
    return "an attribute of the host's root"


attempt(trust)
