# tries: unload a kernel module that does not exist
# layer: seccomp
# also: caps, user
# control: refused ENOSYS because this kernel is built without modules
# blocked: EPERM
attempt(lambda: reached(NR.delete_module, b"sandgate_escape_none", os.O_NONBLOCK, answers="ENOENT"))
