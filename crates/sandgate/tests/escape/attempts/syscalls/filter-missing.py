# tries: run without a filter of system calls
# layer: seccomp
# control: escapes
# blocked: filtered
def mode():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("Seccomp:"):
                if line.split()[1] == "0":
                    return "no filter"
                raise Blocked("filtered")
    raise RuntimeError("no such line")


attempt(mode)
