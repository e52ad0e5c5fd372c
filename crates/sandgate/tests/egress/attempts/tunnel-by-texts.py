# tries: have data come in by records that are no addresses
# control: blocked because only addresses are answered
# blocked: no-texts
def receive():
    # CNAME, NULL, MX, TXT, SRV, HTTPS, and all that there is.
    for kind in (5, 10, 15, 16, 33, 65, 255):
        code, answer = resolved("data.wild.test", kind)
        if secret() in answer:
            return f"the secret by kind {kind}"
        if code != 0 or answer[6:8] != b"\0\0":
            raise Blocked(f"kind-{kind}-code-{code}")
    raise Blocked("no-texts")


attempt(receive)
