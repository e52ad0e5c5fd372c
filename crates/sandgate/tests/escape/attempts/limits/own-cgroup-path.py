# tries: learn from one's own list of cgroups how the host names its limits
# layer: cgroupns
# control: escapes
# blocked: only-own-root
def path():
    with open("/proc/self/cgroup") as lines:
        for line in lines:
            names = line.rstrip("\n").split(":", 2)[2].strip("/").split("/")
            # The name of one's own context, straight below one's own root, says nothing of the host.
            if names != [""] and not (len(names) == 1 and names[0].startswith("context-")):
                return "a path of the host's limits"
    raise Blocked("only-own-root")


attempt(path)
