# tries: open a tunnel to an allowed host, wait until nobody looks any more, and ask it for a forbidden one
# control: blocked because the two must agree under any policy
# blocked: disagrees
def late():
    end = tunnel("allowed.test:80")
    time.sleep(12)
    return judged(asked(end, get("forbidden.test")))


attempt(late)
