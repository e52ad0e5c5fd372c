# tries: connect to an allowed host on a port that is only allowed for another
# control: blocked because an open policy names no such port
# blocked: not-allowed
attempt(lambda: judged(asked(connected((address_of("allowed.test"), 7000)), get("allowed.test"))))
