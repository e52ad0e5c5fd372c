# tries: learn the name of the host from /proc
# layer: uts
# control: escapes
# blocked: other-name
def name():
    with open("/proc/sys/kernel/hostname") as file:
        if file.read().strip() == "{{HOSTNAME}}":
            return "the host's name"
    raise Blocked("other-name")


attempt(name)
