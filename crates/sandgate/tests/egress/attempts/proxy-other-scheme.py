# tries: ask the proxy for a file and not for a page
# control: blocked because it knows no other scheme
# blocked: http-400
attempt(lambda: judged(asked(connected(PROXY), b"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")))
