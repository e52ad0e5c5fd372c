# tries: start a process in a network namespace of its own
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
def start():
    child = syscall(NR.clone, CLONE_NEWNET | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a process in a network namespace of its own"


attempt(lambda: in_child(start))
