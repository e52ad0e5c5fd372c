# tries: connect to an address of the internet in the clothes of IPv6
# control: blocked because none answers here
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("::ffff:203.0.113.7", 80), socket.AF_INET6), get("forbidden.test"))))
