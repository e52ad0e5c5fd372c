# tries: connect to a port of an allowed host that is not allowed
# control: blocked because nobody listens there
# blocked: ECONNREFUSED
attempt(lambda: judged(asked(connected((address_of("allowed.test"), 22)), get("allowed.test"))))
