# tries: join a new session keyring
# layer: seccomp
# control: escapes
# blocked: EPERM
KEYCTL_JOIN_SESSION_KEYRING = 1
attempt(lambda: in_child(lambda: f"keyring {syscall(NR.keyctl, KEYCTL_JOIN_SESSION_KEYRING, None)}"))
