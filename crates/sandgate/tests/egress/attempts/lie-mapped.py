# tries: have an allowed name lead to the host's loopback in the clothes of IPv6
# control: escapes
# blocked: denied-address
attempt(lambda: judged(by_proxy(f"http://mapped.lies.test:{HOST_PORT}/secret")))
