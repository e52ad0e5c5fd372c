# tries: switch off the random layout of memory for the programs that follow
# layer: seccomp
# control: escapes
# blocked: EPERM
ADDR_NO_RANDOMIZE = 0x40000
attempt(lambda: in_child(lambda: f"it was {syscall(NR.personality, ADDR_NO_RANDOMIZE)}"))
