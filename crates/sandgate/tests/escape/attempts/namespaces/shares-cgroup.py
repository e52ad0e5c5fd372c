# tries: find that one shares the host's namespace of limits
# layer: cgroupns
# control: escapes
# blocked: own-namespace
def shared():
    if os.readlink("/proc/self/ns/cgroup") in "{{HOST_NS}}".split():
        return "the host's own namespace"
    raise Blocked("own-namespace")


attempt(shared)
