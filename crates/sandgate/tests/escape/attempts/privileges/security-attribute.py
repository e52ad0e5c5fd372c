# tries: set an attribute that security modules of the host go by
# layer: user
# also: caps
# control: escapes
# blocked: EPERM


def label():
    path = f".labelled-{os.getpid()}"
    open(path, "w").close()
    try:
        os.setxattr(path, "security.sandgate", b"x")
    finally:
        os.unlink(path)
    return "an attribute of security"


attempt(label)
