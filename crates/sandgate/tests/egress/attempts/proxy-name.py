# tries: ask the proxy for a host that is not allowed
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy("http://forbidden.test/secret")))
