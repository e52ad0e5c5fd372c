# tries: connect straight to an address of the internet
# control: blocked because none answers here
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("203.0.113.7", 80)), get("forbidden.test"))))
