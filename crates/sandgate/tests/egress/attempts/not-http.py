# tries: connect to an allowed host and begin with what is no request, so that the next is not looked at
# control: blocked because only requests pass on that port
# blocked: empty
attempt(lambda: judged(asked(connected((address_of("allowed.test"), 80)), b"?\r\n" + get("forbidden.test"))))
