# tries: find the server's port in the list of sockets
# layer: net
# control: escapes
# blocked: unseen
def find():
    port = f":{int('{{HOST_PORT}}'):04X} "
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        if os.path.exists(table):
            with open(table) as lines:
                if port in lines.read():
                    return "the server's port is listed"
    raise Blocked("unseen")


attempt(find)
