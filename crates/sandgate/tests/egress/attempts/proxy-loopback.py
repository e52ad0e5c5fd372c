# tries: reach the host's loopback through the proxy
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://127.0.0.1:{HOST_PORT}/secret")))
