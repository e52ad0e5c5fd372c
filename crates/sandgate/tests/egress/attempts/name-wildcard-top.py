# tries: reach the name itself where only those below it are allowed
# control: escapes
# blocked: no-such-name
attempt(lambda: judged(asked(connected((address_of("wild.test"), 80)), get("wild.test"))))
