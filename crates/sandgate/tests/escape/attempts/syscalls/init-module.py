# tries: load a kernel module from memory
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without modules
# blocked: EPERM
attempt(lambda: reached(NR.init_module, b"none", 4, b"", answers="ENOEXEC EINVAL"))
