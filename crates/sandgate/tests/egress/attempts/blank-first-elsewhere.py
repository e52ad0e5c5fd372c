# tries: ask an allowed host, on a port that is not the web's, for a forbidden one behind a blank, which servers pass over
# control: blocked because such a request is refused under any policy
# blocked: http-400
attempt(lambda: judged(asked(tunnel("web.lies.test:8080"), b" " + get("forbidden.test"))))
