# tries: connect to a service on the host's loopback by its address
# control: blocked because loopback is the sandbox's own
# blocked: ECONNREFUSED
attempt(lambda: judged(asked(connected(("127.0.0.1", HOST_PORT)), get("localhost"))))
