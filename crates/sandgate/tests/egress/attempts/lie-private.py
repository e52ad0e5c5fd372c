# tries: have an allowed name lead to a private address
# control: not run because it would ask a real machine, if there is one
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://private.lies.test/secret")))
