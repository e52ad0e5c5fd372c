# tries: find mounts of the host in the list of one's own mounts
# layer: mount
# control: escapes
# blocked: own-mounts-only
OWN = "/usr /opt /etc /proc /dev /tmp /var /run /mnt/data /home/user /workspace /bin /sbin /lib /lib32 /lib64 /libx32".split()


def foreign():
    with open("/proc/self/mountinfo") as table:
        points = [line.split()[4] for line in table]
    for point in points:
        if point != "/" and not any(point == own or point.startswith(own + "/") for own in OWN):
            return f"{point} is mounted"
    raise Blocked("own-mounts-only")


attempt(foreign)
