# tries: name a forbidden host in the request line of a connection to an allowed one
# control: blocked because a connection has one host
# blocked: disagrees
attempt(
    lambda: judged(
        asked(
            connected((address_of("allowed.test"), 80)),
            b"GET http://forbidden.test/secret HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
        )
    )
)
