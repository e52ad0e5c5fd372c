# tries: reach a port that another sandbox listens on
# control: blocked because each has a loopback of its own
# blocked: ECONNREFUSED
attempt(lambda: judged(asked(connected(("127.0.0.1", int("{{NEIGHBOUR_PORT}}"))), get("x"))))
