# tries: connect straight to the address of a host that is not allowed
# control: escapes
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected((BAD, 80)), get("forbidden.test"))))
