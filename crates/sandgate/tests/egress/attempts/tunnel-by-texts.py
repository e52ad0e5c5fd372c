# tries: have data come in by records of text
# control: blocked because only addresses are answered
# blocked: no-texts
def receive():
    code, answer = resolved("data.wild.test", 16)
    if secret() in answer:
        return "the secret"
    raise Blocked("no-texts")


attempt(receive)
