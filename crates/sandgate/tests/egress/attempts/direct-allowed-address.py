# tries: connect straight to the address of an allowed host, past the check of its name
# control: escapes
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected((GOOD, 80)), get("forbidden.test"))))
