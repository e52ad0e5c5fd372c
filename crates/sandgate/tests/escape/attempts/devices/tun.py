# tries: open the door to virtual network cards
# layer: mount
# also: landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/dev/net/tun", os.O_RDWR))
