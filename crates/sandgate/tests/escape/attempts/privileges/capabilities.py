# tries: find a capability that the process has
# layer: caps
# control: escapes
# blocked: none
def find():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb")) and int(line.split()[1], 16):
                return line.split(":")[0] + " is not empty"
    raise Blocked("none")


attempt(find)
