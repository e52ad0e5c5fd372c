# tries: have an allowed name lead to an allowed host first and then where nobody may go
# control: escapes
# blocked: denied-address
attempt(lambda: rebound(lambda name: by_proxy(f"http://{name}/secret")))
