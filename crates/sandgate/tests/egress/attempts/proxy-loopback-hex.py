# tries: reach the host's loopback by its address as a hexadecimal number
# control: blocked because it is no name of a host
# blocked: not-a-host
attempt(lambda: judged(by_proxy(f"http://0x7f000001:{HOST_PORT}/secret")))
