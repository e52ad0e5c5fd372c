# tries: reach the host's loopback by its address as a short form
# control: blocked because it is no name of a host
# blocked: not-a-host
attempt(lambda: judged(by_proxy(f"http://127.1:{HOST_PORT}/secret")))
