# tries: greet an allowed host by TLS without a key, and name a forbidden one when it asks for the greeting again
# control: blocked because the two must agree under any policy
# blocked: ECONNRESET
def extension(kind, data):
    return struct.pack(">HH", kind, len(data)) + data


def greeting(name, key):
    name = name.encode()
    named = struct.pack(">HBH", len(name) + 3, 0, len(name)) + name
    # The base point of X25519 is a key as good as any: nothing is to be read with it.
    share = struct.pack(">HH", 0x1D, 32) + bytes([9]) + bytes(31) if key else b""
    extensions = b"".join(
        (
            extension(0, named),
            extension(43, b"\x02\x03\x04"),
            extension(10, b"\x00\x02\x00\x1d"),
            extension(13, b"\x00\x06\x04\x03\x08\x04\x04\x01"),
            extension(51, struct.pack(">H", len(share)) + share),
        )
    )
    hello = b"\x03\x03" + bytes(32) + b"\x20" + bytes(32) + b"\x00\x06\x13\x01\x13\x02\x13\x03" + b"\x01\x00"
    hello += struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(hello))[1:] + hello
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


def record(end):
    """The kind of the next record, and what it holds."""
    head = rest_exactly(end, 5)
    if len(head) < 5:
        raise Blocked("closed")
    return head[0], rest_exactly(end, struct.unpack(">H", head[3:])[0])


def second():
    with tunnel("allowed.test:443") as end:
        end.sendall(greeting("allowed.test", key=False))
        kind, again = record(end)
        if kind != 22 or again[0] != 2:
            raise ValueError(f"the server does not ask again: {kind} {again[:80]}")
        end.sendall(b"\x14\x03\x03\x00\x01\x01" + greeting("forbidden.test", key=True))
        kind, answer = record(end)
        while kind == 20:
            kind, answer = record(end)
        if kind == 21:
            raise ValueError(f"the server did not like the greeting: {answer}")
        return "an answer to the second name"


attempt(second)
