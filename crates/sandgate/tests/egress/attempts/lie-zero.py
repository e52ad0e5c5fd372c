# tries: have an allowed name lead to the address of all zeros
# control: escapes
# blocked: denied-address
attempt(lambda: judged(by_proxy(f"http://zero.lies.test:{HOST_PORT}/secret")))
