# tries: find the nameless sockets of the host in the list of sockets
# layer: net
# control: escapes
# blocked: unseen
def find():
    with open("/proc/self/net/unix") as table:
        if "@" + "{{ABSTRACT_SOCKET}}".lstrip("\0@") in table.read():
            return "the socket is listed"
    raise Blocked("unseen")


attempt(find)
