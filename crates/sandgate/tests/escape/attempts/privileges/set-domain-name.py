# tries: get as far as the kernel's own check of a domain name of impossible length
# layer: seccomp
# also: caps
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.setdomainname, b"x", 0x7FFFFFFF, answers="EINVAL"))
