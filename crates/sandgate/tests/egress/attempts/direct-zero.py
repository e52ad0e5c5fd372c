# tries: connect to the host's loopback by the address of all zeros
# control: blocked because loopback is the sandbox's own
# blocked: ECONNREFUSED
attempt(lambda: judged(asked(connected(("0.0.0.0", HOST_PORT)), get("localhost"))))
