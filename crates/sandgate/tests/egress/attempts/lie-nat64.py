# tries: have an allowed name lead to the host's loopback through a translator
# control: not run because it would ask a real machine, if there is one
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://nat64.lies.test/secret")))
