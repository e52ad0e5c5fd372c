# tries: ask the proxy for an allowed host by its address
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://{GOOD}/secret", host="forbidden.test")))
