# tries: connect to an allowed host and ask it for a forbidden one by a method in small letters
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(asked(connected((address_of("allowed.test"), 80)), b"get" + get("forbidden.test")[3:])))
