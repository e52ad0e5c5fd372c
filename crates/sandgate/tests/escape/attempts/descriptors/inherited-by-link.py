# tries: find where the open descriptors lead, by their names in /proc
# layer: descriptors
# control: escapes
# blocked: nothing-inherited
def find():
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            continue  # the listing itself
        if int(fd) > 2 and target.startswith("/") and not target.startswith(("/proc/", "/dev/")):
            return f"descriptor {fd} leads to a path"
    raise Blocked("nothing-inherited")


attempt(find)
