# tries: connect straight to a private address
# control: not run because it would ask a real machine, if there is one
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("10.0.0.1", 80)), get("10.0.0.1"))))
