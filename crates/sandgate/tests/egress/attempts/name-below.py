# tries: reach a name below an allowed one that was not allowed with all below it
# control: escapes
# blocked: no-such-name
attempt(lambda: judged(asked(connected((address_of("evil.allowed.test"), 80)), get("evil.allowed.test"))))
