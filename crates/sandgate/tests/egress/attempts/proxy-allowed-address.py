# tries: ask the proxy for an allowed host by its address
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(by_proxy(f"http://{GOOD}/secret", host="forbidden.test")))
