# tries: find that programs may still gain privileges when they start
# layer: nnp
# control: escapes
# blocked: locked
def find():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("NoNewPrivs:"):
                if line.split()[1] == "0":
                    return "programs may gain privileges"
                raise Blocked("locked")
    raise RuntimeError("no such line")


attempt(find)
