# tries: reach the host's loopback by its address as octal numbers
# control: blocked because it is no name of a host
# blocked: not-a-host
attempt(lambda: judged(by_proxy(f"http://0177.0.0.1:{HOST_PORT}/secret")))
