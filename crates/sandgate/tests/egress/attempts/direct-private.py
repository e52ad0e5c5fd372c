# tries: connect straight to a private address
# control: blocked because there is none here
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("10.0.0.1", 80)), get("10.0.0.1"))))
