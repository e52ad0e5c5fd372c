# tries: have an allowed name lead to an allowed host and the host's loopback
# control: blocked because the first address answers
# blocked: denied-address
attempt(lambda: judged(by_proxy(f"http://mixed.lies.test:{HOST_PORT}/secret")))
