# tries: get as far as the kernel's own check of the numbers that confirm a reboot
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.reboot, 0, 0, 0, None, answers="EINVAL"))
