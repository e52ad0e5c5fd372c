# tries: have an allowed name lead to an allowed host and the host's loopback
# control: escapes
# blocked: denied-address
attempt(lambda: judged(by_proxy(f"http://mixed.lies.test:{HOST_PORT}/secret")))
