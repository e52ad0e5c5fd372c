# tries: open a setting of the network that lets loopback be routed, for writing
# layer: procmask
# also: user, landlock
# control: escapes
# blocked: EACCES|EROFS|ENOENT
attempt(lambda: openable("/proc/sys/net/ipv4/conf/all/route_localnet", os.O_WRONLY))
