# tries: learn from one's own list of cgroups how the host names its limits
# layer: cgroup
# control: escapes
# blocked: only-own-root
def path():
    with open("/proc/self/cgroup") as lines:
        for line in lines:
            if line.rstrip("\n").split(":", 2)[2] != "/":
                return "a path of the host's limits"
    raise Blocked("only-own-root")


attempt(path)
