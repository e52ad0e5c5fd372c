# tries: hide a second request behind two different lengths
# control: blocked because no request has both
# blocked: http-400|other-content|empty|http-200|disagrees
def smuggle():
    hidden = get("forbidden.test")
    request = (
        b"POST http://allowed.test/echo HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 0\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n" + hidden
    )
    return judged(asked(connected(PROXY), request))


attempt(smuggle)
