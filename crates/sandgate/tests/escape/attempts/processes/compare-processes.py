# tries: compare two processes inside the kernel, which tells how its memory is laid out
# layer: seccomp
# control: escapes
# blocked: EPERM
KCMP_VM = 1
attempt(lambda: f"the answer is {syscall(NR.kcmp, os.getpid(), os.getpid(), KCMP_VM, 0, 0)}")
