# tries: ask the SOCKS proxy for a host that is not allowed
# control: escapes
# blocked: socks-2
attempt(lambda: judged(asked(by_socks(3, b"forbidden.test", 80), get("forbidden.test"))))
