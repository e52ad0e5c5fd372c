# tries: look up a name that is not allowed
# control: escapes
# blocked: no-such-name
attempt(lambda: judged(asked(connected((address_of("forbidden.test"), 80)), get("forbidden.test"))))
