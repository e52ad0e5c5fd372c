# tries: have the SOCKS proxy listen outside
# control: blocked because it only connects
# blocked: socks-7
def bind():
    end = connected(SOCKS)
    end.sendall(b"\x05\x01\x00")
    rest_exactly(end, 2)
    end.sendall(b"\x05\x02\x00\x01\x00\x00\x00\x00\x00\x50")
    answer = rest_exactly(end, 4)
    if answer[1:2] == b"\x00":
        return "it listens"
    raise Blocked(f"socks-{answer[1] if len(answer) > 1 else 'closed'}")


attempt(bind)
