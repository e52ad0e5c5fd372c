# tries: send a request for a forbidden host on the connection of an allowed one
# control: escapes
# blocked: not-allowed
def pipeline():
    first = b"GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"
    second = b"GET http://forbidden.test/secret HTTP/1.1\r\nHost: forbidden.test\r\nConnection: close\r\n\r\n"
    return judged(asked(connected(PROXY), first + second))


attempt(pipeline)
