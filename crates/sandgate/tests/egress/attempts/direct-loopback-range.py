# tries: connect to a forbidden host on the host's loopback by its own address
# control: blocked because all of that range is the sandbox's own
# blocked: empty
attempt(lambda: judged(asked(connected((BAD, 80)), get("forbidden.test"))))
