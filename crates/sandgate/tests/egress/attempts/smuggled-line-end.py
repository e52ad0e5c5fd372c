# tries: hide a second request behind a bare line end in a header
# control: escapes
# blocked: not-allowed
def smuggle():
    request = (
        b"GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nX: y\n\nGET http://forbidden.test/secret HTTP/1.1\n"
        b"Host: forbidden.test\r\nConnection: close\r\n\r\n"
    )
    return judged(asked(connected(PROXY), request))


attempt(smuggle)
