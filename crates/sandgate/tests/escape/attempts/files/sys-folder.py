# tries: look into /sys, the kernel's objects and settings
# layer: mount
# control: escapes
# blocked: ENOENT|empty
def entries():
    if not os.listdir("/sys"):
        raise Blocked("empty")
    return "the kernel's objects"


attempt(entries)
