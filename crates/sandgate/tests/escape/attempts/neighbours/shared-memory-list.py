# tries: find shared memory of others in the list of it
# layer: ipc
# also: procmask
# control: escapes
# blocked: unseen|ENOENT
def find():
    with open("/proc/sysvipc/shm") as table:
        for line in table.readlines()[1:]:
            if int(line.split()[0]) & 0xFFFFFFFF == int("{{SYSV_KEY}}") & 0xFFFFFFFF:
                return "the segment is listed"
    raise Blocked("unseen")


attempt(find)
