# tries: find a network card other than loopback
# layer: net
# control: escapes
# blocked: only-loopback
# Some kernels put these idle tunnels into every new network namespace.
IDLE = ("lo", "tunl0", "sit0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6tnl0", "ip6gre0")


def cards():
    with open("/proc/self/net/dev") as table:
        names = [line.split(":")[0].strip() for line in table.readlines()[2:]]
    if all(name in IDLE for name in names):
        raise Blocked("only-loopback")
    return "a network card"


attempt(cards)
