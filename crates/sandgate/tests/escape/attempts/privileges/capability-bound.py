# tries: find a capability that a program could still be given
# layer: caps
# control: escapes
# blocked: none
def find():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("CapBnd") and int(line.split()[1], 16):
                return "the bound is not empty"
    raise Blocked("none")


attempt(find)
