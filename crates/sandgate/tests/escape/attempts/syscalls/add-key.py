# tries: put a key into the kernel
# layer: seccomp
# control: escapes
# blocked: EPERM
KEY_SPEC_PROCESS_KEYRING = -2
attempt(lambda: in_child(lambda: f"key {syscall(NR.add_key, b'user', b'escape', b'x', 1, KEY_SPEC_PROCESS_KEYRING)}"))
