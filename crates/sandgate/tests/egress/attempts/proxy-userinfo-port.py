# tries: hide it behind what looks like a port
# control: blocked because it is no address
# blocked: not-allowed|http-400|not-a-host|denied
attempt(lambda: judged(by_proxy("http://allowed.test:80@forbidden.test/secret", host="forbidden.test")))
