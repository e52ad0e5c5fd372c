# tries: hide a forbidden call behind the x32 bit
# layer: seccomp
# control: refused ENOSYS because this kernel is built without x32
# blocked: EPERM|SIGSYS
X32 = 0x40000000
attempt(lambda: in_child(lambda: syscall(X32 + NR.unshare, CLONE_NEWUSER) or "a user namespace"))
