# tries: open a tunnel to the host's loopback
# control: escapes
# blocked: not-allowed
attempt(lambda: judged(asked(tunnel(f"127.0.0.1:{HOST_PORT}"), get("localhost"))))
