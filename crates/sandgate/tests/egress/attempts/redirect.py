# tries: follow a redirect from an allowed host to a forbidden one
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(followed("http://allowed.test/redirect")))
