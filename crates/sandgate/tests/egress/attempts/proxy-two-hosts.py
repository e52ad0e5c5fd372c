# tries: send two Host headers, an allowed and a forbidden one
# control: blocked because no request has two
# blocked: host-header
attempt(lambda: judged(by_proxy("http://allowed.test/secret", more="Host: forbidden.test\r\n")))
