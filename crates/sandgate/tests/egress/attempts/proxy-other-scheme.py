# tries: ask the proxy for a file and not for a page
# control: blocked because it knows no other scheme
# blocked: http-400|http-403|denied|http-501|not-a-host
attempt(lambda: judged(asked(connected(PROXY), b"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")))
