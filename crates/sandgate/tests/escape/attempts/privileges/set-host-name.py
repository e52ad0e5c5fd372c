# tries: set the host name (to what it is)
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
def rename():
    name = os.uname().nodename.encode()
    syscall(NR.sethostname, name, len(name))
    return "the name can be set"


attempt(lambda: in_child(rename))
