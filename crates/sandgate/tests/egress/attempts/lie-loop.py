# tries: have an allowed name lead to the host's loopback
# control: escapes
# blocked: denied-address
attempt(lambda: judged(by_proxy(f"http://loop.lies.test:{HOST_PORT}/secret")))
