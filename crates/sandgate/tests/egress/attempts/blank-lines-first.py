# tries: connect to an allowed host and hide a request for a forbidden one behind empty lines, which servers pass over
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(asked(connected((address_of("allowed.test"), 80)), b"\r\n\r\n" + get("forbidden.test"))))
