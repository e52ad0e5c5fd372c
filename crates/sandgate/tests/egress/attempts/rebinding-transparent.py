# tries: the same without a proxy
# control: escapes
# blocked: denied-address
def rebind(name):
    return asked(connected((address_of(name), 80)), get(name))


attempt(lambda: rebound(rebind))
