# tries: reach a name that only ends like an allowed one
# control: escapes
# blocked: no-such-name
attempt(lambda: judged(asked(connected((address_of("notallowed.test"), 80)), get("notallowed.test"))))
