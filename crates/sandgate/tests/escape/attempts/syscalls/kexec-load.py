# tries: load another kernel, with impossible flags
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without kexec
# blocked: EPERM
attempt(lambda: reached(NR.kexec_load, 0, 0, None, 0xFFFF, answers="EINVAL"))
