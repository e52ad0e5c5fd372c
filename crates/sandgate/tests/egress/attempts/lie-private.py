# tries: have an allowed name lead to a private address
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://private.lies.test/secret")))
