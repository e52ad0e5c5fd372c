# tries: connect to a forbidden host by an IPv4 address in the clothes of IPv6
# control: escapes
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("::ffff:" + BAD, 80), socket.AF_INET6), get("forbidden.test"))))
