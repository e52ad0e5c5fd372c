# tries: connect straight to the metadata address of a cloud
# control: blocked because there is none here
# blocked: ENETUNREACH
attempt(lambda: judged(asked(connected(("169.254.169.254", 80)), get("169.254.169.254"))))
