# tries: connect straight to an address of the internet
# control: not run because it would ask a real machine, if there is one
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("203.0.113.7", 80)), get("forbidden.test"))))
