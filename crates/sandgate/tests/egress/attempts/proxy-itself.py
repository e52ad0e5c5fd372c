# tries: have the proxy connect to itself
# control: blocked because the host has no such port
# blocked: not-allowed
attempt(lambda: judged(by_proxy("http://127.0.0.1:3128/")))
