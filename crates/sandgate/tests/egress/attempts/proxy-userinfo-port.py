# tries: hide it behind what looks like a port
# control: blocked because it is no address
# blocked: password
attempt(lambda: judged(by_proxy("http://allowed.test:80@forbidden.test/secret", host="forbidden.test")))
