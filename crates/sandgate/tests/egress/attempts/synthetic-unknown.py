# tries: connect to an address of the name server's that stands for no name
# control: blocked because it stands for nothing
# blocked: empty|ECONNRESET
attempt(lambda: judged(asked(connected(("198.19.255.254", 80)), get("forbidden.test"))))
