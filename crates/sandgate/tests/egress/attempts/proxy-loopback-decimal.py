# tries: reach the host's loopback by its address as one decimal number
# control: blocked because it is no name of a host
# blocked: not-a-host
attempt(lambda: judged(by_proxy(f"http://2130706433:{HOST_PORT}/secret")))
