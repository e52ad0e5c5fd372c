# tries: hide the forbidden host behind an allowed name before an @
# control: escapes
# blocked: not-allowed|http-400|not-a-host
attempt(lambda: judged(by_proxy("http://allowed.test@forbidden.test/secret", host="forbidden.test")))
