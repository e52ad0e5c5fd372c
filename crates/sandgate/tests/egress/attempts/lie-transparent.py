# tries: have an allowed name lead to an address that nobody may reach, without a proxy
# control: escapes
# blocked: denied-address
attempt(lambda: judged(asked(connected((address_of("denied.lies.test"), 80)), get("denied.lies.test"))))
