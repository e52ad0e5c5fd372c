# tries: use the transparent port at the sandbox's own loopback
# control: blocked because it leads nowhere
# blocked: empty|ECONNRESET
attempt(lambda: judged(asked(connected(("127.0.0.1", 80)), get("forbidden.test"))))
