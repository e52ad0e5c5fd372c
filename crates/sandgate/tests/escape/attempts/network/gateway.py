# tries: learn the address of the host's gateway
# layer: net
# control: escapes
# blocked: no-route
def gateway():
    with open("/proc/self/net/route") as table:
        for line in table.readlines()[1:]:
            if line.split()[1] == "00000000":
                return "the gateway's address"
    raise Blocked("no-route")


attempt(gateway)
