# tries: have an allowed name lead to the host's loopback through a translator
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://nat64.lies.test/secret")))
