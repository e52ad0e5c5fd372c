# tries: have an allowed name lead to the metadata address of a cloud
# control: not run because it would ask a real machine, if there is one
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://meta.lies.test/secret")))
