# tries: reach the host's loopback by the name localhost
# control: blocked because it is the sandbox itself
# blocked: itself
attempt(lambda: judged(by_proxy(f"http://localhost:{HOST_PORT}/secret")))
