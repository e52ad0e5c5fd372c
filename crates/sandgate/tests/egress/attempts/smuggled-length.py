# tries: hide a second request behind two different lengths
# control: blocked because chunks count for everybody here, and a connection with two lengths ends with its first answer
# blocked: http-200
def smuggle():
    hidden = b"GET http://forbidden.test/secret HTTP/1.1\r\nHost: forbidden.test\r\nConnection: close\r\n\r\n"
    request = (
        b"POST http://allowed.test/echo HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 0\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden
    )
    return judged(asked(connected(PROXY), request))


attempt(smuggle)
