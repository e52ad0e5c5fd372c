# tries: have an allowed name lead to an address that nobody may reach, through the SOCKS proxy
# control: escapes
# blocked: socks-2
attempt(lambda: judged(asked(by_socks(3, b"denied.lies.test", 80), get("denied.lies.test"))))
