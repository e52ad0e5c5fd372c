# tries: follow a redirect from an allowed host to an address that nobody may reach
# control: escapes
# blocked: denied-address
attempt(lambda: judged(followed("http://allowed.test/redirect-inside")))
