# tries: hide the forbidden host behind an allowed name before an @
# control: blocked because it is no address
# blocked: not-a-host
attempt(lambda: judged(by_proxy("http://allowed.test@forbidden.test/secret", host="forbidden.test")))
