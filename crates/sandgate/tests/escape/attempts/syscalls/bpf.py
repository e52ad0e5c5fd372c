# tries: talk to the kernel's virtual machine, with a command that does not exist
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.bpf, 0x7FFF, bytes(64), 64, answers="EINVAL"))
