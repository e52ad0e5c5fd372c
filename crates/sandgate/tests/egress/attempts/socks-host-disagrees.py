# tries: ask the SOCKS proxy for an allowed host and name a forbidden one inside
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(asked(by_socks(3, b"allowed.test", 80), get("forbidden.test"))))
