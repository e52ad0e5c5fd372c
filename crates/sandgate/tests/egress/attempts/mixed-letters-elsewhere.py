# tries: ask an allowed host, on a port that is not the web's, for a forbidden one by a method in mixed letters
# control: blocked because the two must agree under any policy
# blocked: disagrees
attempt(lambda: judged(asked(tunnel("web.lies.test:8080"), b"Get" + get("forbidden.test")[3:])))
