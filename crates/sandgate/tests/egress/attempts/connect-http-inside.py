# tries: open a tunnel to port 80 of an allowed host and name a forbidden one inside
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(asked(tunnel("allowed.test:80"), get("forbidden.test"))))
