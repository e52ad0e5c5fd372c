# tries: find that one shares the host's namespace of users
# layer: user
# control: escapes
# blocked: own-namespace
def shared():
    if os.readlink("/proc/self/ns/user") in "{{HOST_NS}}".split():
        return "the host's own namespace"
    raise Blocked("own-namespace")


attempt(shared)
