# tries: connect to an allowed host and ask it for a forbidden one by TLS
# control: blocked because the two must agree under any policy
# blocked: tls-alert
attempt(lambda: judged(asked(with_tls(connected((address_of("allowed.test"), 443)), "forbidden.test"), get("forbidden.test"))))
