# tries: have an allowed name lead to the address of all zeros
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://zero.lies.test/secret")))
