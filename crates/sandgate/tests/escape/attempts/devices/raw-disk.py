# tries: open a disk of the machine
# layer: mount
# also: user
# control: escapes
# blocked: ENOENT
def disk():
    for name in ("vda", "sda", "nvme0n1", "xvda", "loop0"):
        try:
            return openable("/dev/" + name, os.O_RDONLY)
        except OSError as error:
            refused = error
    raise refused


attempt(disk)
