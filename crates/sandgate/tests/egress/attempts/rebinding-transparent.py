# tries: the same without a proxy: the address that was given out stays the name's
# control: blocked because nobody listens on that port
# blocked: ECONNREFUSED
attempt(lambda: judged(asked(connected((address_of("rebind.lies.test"), HOST_PORT)), get("rebind.lies.test"))))
