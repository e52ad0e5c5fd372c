# tries: have the SOCKS proxy carry packets
# control: blocked because it only connects
# blocked: socks-7
def associate():
    end = connected(SOCKS)
    end.sendall(b"\x05\x01\x00")
    rest_exactly(end, 2)
    end.sendall(b"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00")
    answer = rest_exactly(end, 4)
    if answer[1:2] == b"\x00":
        return "it carries packets"
    raise Blocked(f"socks-{answer[1] if len(answer) > 1 else 'closed'}")


attempt(associate)
