# tries: find that one shares the host's namespace of network
# layer: net
# control: escapes
# blocked: own-namespace
def shared():
    if os.readlink("/proc/self/ns/net") in "{{HOST_NS}}".split():
        return "the host's own namespace"
    raise Blocked("own-namespace")


attempt(shared)
