# tries: ask the proxy for the address of a forbidden host
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://{BAD}/secret")))
