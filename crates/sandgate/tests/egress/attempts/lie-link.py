# tries: have an allowed name lead to a link-local address
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://link.lies.test/secret")))
