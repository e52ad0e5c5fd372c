# tries: change the Host on a connection that was made to an allowed host
# control: blocked because a connection has one host
# blocked: disagrees
def change():
    end = connected((address_of("allowed.test"), 80))
    end.sendall(b"GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
    rest(end, b"GOOD")
    return judged(asked(end, get("forbidden.test")))


attempt(change)
