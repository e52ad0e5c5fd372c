# tries: connect straight to the metadata address of a cloud
# control: not run because it would ask a real machine, if there is one
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("169.254.169.254", 80)), get("169.254.169.254"))))
