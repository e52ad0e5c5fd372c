# tries: learn the name of the host
# layer: uts
# control: escapes
# blocked: other-name
def name():
    if os.uname().nodename == "{{HOSTNAME}}":
        return "the host's name"
    raise Blocked("other-name")


attempt(name)
