# tries: name a forbidden host in capitals
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy("http://FORBIDDEN.TEST/secret")))
