# tries: find processes of the host in the list of all processes
# layer: pid
# control: escapes
# blocked: unseen
def find():
    names = os.listdir("/proc")
    if str(HOST_PID) in names or str(NEIGHBOUR_PID) in names:
        return "processes of the host are listed"
    raise Blocked("unseen")


attempt(find)
