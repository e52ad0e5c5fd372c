# tries: reach the host's loopback by its address of IPv6
# control: blocked because nothing listens there
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://[::1]:{HOST_PORT}/secret")))
