# tries: ask to be traced by the x32 numbers, which a filter may forget
# layer: seccomp
# control: refused ENOSYS because this kernel is built without x32
# blocked: EPERM|SIGSYS
X32 = 0x40000000
attempt(lambda: in_child(lambda: reached(X32 + 521, 0, 0, 0, 0, answers="")))
