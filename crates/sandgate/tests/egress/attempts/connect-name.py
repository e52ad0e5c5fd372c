# tries: open a tunnel to a host that is not allowed
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(asked(with_tls(tunnel("forbidden.test:443"), "forbidden.test"), get("forbidden.test"))))
