# tries: ask the proxy for an allowed host and name a forbidden one in the Host header
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(by_proxy("http://allowed.test/secret", host="forbidden.test")))
