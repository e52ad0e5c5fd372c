# tries: put a line end into the target of a tunnel
# control: blocked because it is no target
# blocked: http-400
attempt(lambda: judged(asked(connected(PROXY), b"CONNECT allowed.test:443\nHost: forbidden.test:443 HTTP/1.1\r\n\r\n")))
