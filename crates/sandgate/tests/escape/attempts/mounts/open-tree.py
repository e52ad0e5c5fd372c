# tries: get a handle of a mounted tree
# layer: seccomp
# control: escapes
# blocked: EPERM
def handle():
    os.close(syscall(NR.open_tree, AT_FDCWD, b"/usr", os.O_CLOEXEC))
    return "a handle of /usr"


attempt(handle)
