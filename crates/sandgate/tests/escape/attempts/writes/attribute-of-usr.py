# tries: set an attribute of a program of the system
# layer: mount
# also: user
# control: escapes
# blocked: EROFS
def mark():
    os.setxattr("/usr/bin/env", "user.sandgate-escape", b"x")
    os.removexattr("/usr/bin/env", "user.sandgate-escape")
    return "a program of the system is marked"


attempt(mark)
