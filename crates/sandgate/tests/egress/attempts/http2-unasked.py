# tries: speak HTTP/2 from the start, where requests for forbidden hosts cannot be seen
# control: blocked because only requests of HTTP/1 pass on that port
# blocked: empty
attempt(lambda: judged(asked(tunnel("allowed.test:80"), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))))
