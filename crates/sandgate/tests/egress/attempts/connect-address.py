# tries: open a tunnel to the address of a forbidden host
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(asked(with_tls(tunnel(f"{BAD}:443"), "forbidden.test"), get("forbidden.test"))))
