# tries: ask the SOCKS proxy for the host's loopback in the clothes of IPv6
# control: escapes
# blocked: socks-2
attempt(lambda: judged(asked(by_socks(4, socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"), HOST_PORT), get("x"))))
