# tries: reach it through the proxy
# control: blocked because the proxy is outside of both
# blocked: not-allowed
attempt(lambda: judged(by_proxy("http://127.0.0.1:{{NEIGHBOUR_PORT}}/secret")))
