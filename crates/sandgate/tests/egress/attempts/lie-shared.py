# tries: have an allowed name lead to a provider's inner network
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://shared.lies.test/secret")))
