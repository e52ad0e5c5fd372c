# tries: open the door that turns files into disks
# layer: mount
# also: user, landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/dev/loop-control", os.O_RDWR))
