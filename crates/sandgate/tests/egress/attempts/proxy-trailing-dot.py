# tries: name a forbidden host with a dot at its end
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy("http://forbidden.test./secret")))
