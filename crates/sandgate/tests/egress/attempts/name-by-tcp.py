# tries: look up a name that is not allowed by TCP, as programs do for long answers
# control: escapes
# blocked: code-3
def look_up():
    with connected(DNS) as end:
        query = question("forbidden.test")
        end.sendall(struct.pack(">H", len(query)) + query)
        answer = rest_exactly(end, struct.unpack(">H", rest_exactly(end, 2))[0])
    if answer[3] & 15:
        raise Blocked(f"code-{answer[3] & 15}")
    return judged(asked(connected((socket.inet_ntoa(answer[-4:]), 80)), get("forbidden.test")))


attempt(look_up)
