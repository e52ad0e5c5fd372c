# tries: ask the proxy for an allowed host by its address
# control: blocked because it has no secret
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://{GOOD}/")))
