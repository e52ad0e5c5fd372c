# tries: load a kernel module from a file that is none
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without modules
# blocked: EPERM
attempt(lambda: reached(NR.finit_module, -1, b"", 0, answers="ENOEXEC EINVAL EBADF"))
