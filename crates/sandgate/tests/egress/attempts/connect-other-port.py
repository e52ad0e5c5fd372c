# tries: open a tunnel to a port of an allowed host that is not allowed
# control: blocked because nothing listens there
# blocked: not-allowed
attempt(lambda: judged(asked(tunnel("allowed.test:22"), b"x")))
