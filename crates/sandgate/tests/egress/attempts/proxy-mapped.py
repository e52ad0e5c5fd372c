# tries: reach the host's loopback by its address in the clothes of IPv6
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy(f"http://[::ffff:127.0.0.1]:{HOST_PORT}/secret")))
