# tries: have an allowed name lead to the metadata address of a cloud
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://meta.lies.test/secret")))
