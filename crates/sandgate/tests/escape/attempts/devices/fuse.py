# tries: open the door for file systems of one's own making
# layer: mount
# also: landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/dev/fuse", os.O_RDWR))
