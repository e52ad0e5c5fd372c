# tries: ask the SOCKS proxy for the address of a forbidden host
# control: escapes
# blocked: socks-2
attempt(lambda: judged(asked(by_socks(1, socket.inet_aton(BAD), 80), get("forbidden.test"))))
