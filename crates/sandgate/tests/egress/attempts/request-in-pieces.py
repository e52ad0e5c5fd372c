# tries: begin as something else that waits for an answer, and make a request for a forbidden host of it later
# control: blocked because what comes late cannot be checked under any policy
# blocked: empty
def in_pieces():
    request = get("forbidden.test")
    end = tunnel("web.lies.test:8080")
    end.sendall(request[:2])
    time.sleep(2)
    return judged(asked(end, request[2:]))


attempt(in_pieces)
