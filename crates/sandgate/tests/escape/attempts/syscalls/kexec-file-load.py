# tries: load another kernel from a file, with impossible flags
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without kexec
# blocked: EPERM
attempt(lambda: reached(NR.kexec_file_load, -1, -1, 0, None, 0xFFFF, answers="EINVAL EBADF"))
