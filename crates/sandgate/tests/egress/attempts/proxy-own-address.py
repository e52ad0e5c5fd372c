# tries: reach it through the proxy
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(by_proxy("http://{{OWN}}:{{OWN_PORT}}/secret")))
