# tries: reach this server through its own proxy
# control: blocked because it asks nobody for the secret
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://127.0.0.1:{SERVER_PORT}/health")))
