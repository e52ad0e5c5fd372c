# tries: have an allowed name lead to the host's loopback behind another name
# control: escapes
# blocked: denied-address
attempt(lambda: judged(by_proxy(f"http://alias.lies.test:{HOST_PORT}/secret")))
