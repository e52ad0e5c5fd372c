# tries: connect straight to an address of IPv6
# control: blocked because there is no route for any policy
# blocked: ENETUNREACH|EADDRNOTAVAIL
attempt(lambda: judged(asked(connected(("2001:db8::1", 80), socket.AF_INET6), get("x"))))
