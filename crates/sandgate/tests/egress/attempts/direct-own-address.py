# tries: connect straight to an address of the host's own, beside its loopback
# control: blocked because the port is none of the web
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("{{OWN}}", int("{{OWN_PORT}}"))), get("forbidden.test"))))
