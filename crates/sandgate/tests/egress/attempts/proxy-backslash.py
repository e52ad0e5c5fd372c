# tries: confuse the proxy with a backslash in the address
# control: blocked because it is no address
# blocked: http-400
attempt(lambda: judged(by_proxy("http://forbidden.test\\@allowed.test/secret", host="forbidden.test")))
