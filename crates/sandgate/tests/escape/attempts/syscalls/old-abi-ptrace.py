# tries: ask to be traced by the 32-bit door, where the number means another call than in the 64-bit list
# layer: seccomp
# control: escapes
# blocked: SIGSYS|EPERM|ENOSYS
attempt(lambda: in_child(lambda: by_the_old_door(26, 0, 0)))  # 26 is ptrace there, msync here
