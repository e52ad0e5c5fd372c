# tries: connect to an address of the internet in the clothes of IPv6
# control: not run because it would ask a real machine, if there is one
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("::ffff:203.0.113.7", 80), socket.AF_INET6), get("forbidden.test"))))
