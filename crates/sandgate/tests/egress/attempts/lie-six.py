# tries: have an allowed name lead to the host's loopback by IPv6
# control: blocked because nothing answers there
# blocked: denied-address
attempt(lambda: judged(by_proxy("http://six.lies.test/secret")))
