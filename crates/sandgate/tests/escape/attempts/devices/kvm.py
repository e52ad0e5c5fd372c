# tries: open the door to the processor's virtual machines
# layer: mount
# also: user, landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/dev/kvm", os.O_RDWR))
