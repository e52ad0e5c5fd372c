# tries: ask the kernel for a key
# layer: seccomp
# control: escapes
# blocked: EPERM
attempt(lambda: reached(NR.request_key, b"user", b"sandgate-escape-none", None, 0, answers="ENOKEY"))
