"""The name server of the world outside: it lies about the names below lies.test, and remembers what it was asked."""

import socket
import struct
import threading

# Beside addresses: what could carry data in. CNAME, NULL, MX, TXT, SRV, HTTPS, and all that there is.
TELLING = (5, 10, 15, 16, 33, 65, 255)
A, ALIAS, AAAA = 1, 5, 28
# Answers that are cut short, to be asked for again by TCP.
LONG = "long.wild.test"
ALIASES = {"alias.lies.test": "loop.lies.test"}


class Names:
    def __init__(self, good, bad, denied, secret):
        self.good, self.denied, self.secret = good, denied, secret
        self.asked = []
        self.rebound = set()
        # Names below lies.test are allowed by the policy, and lead where nobody may go. One of them is honest: it is
        # reached on any port.
        self.v4 = {
            "allowed.test": [good], "data.wild.test": [good], "a.wild.test": [good], "raw.test": [good], LONG: [good],
            "forbidden.test": [bad], "notallowed.test": [bad], "evil.allowed.test": [bad], "wild.test": [bad],
            "loop.lies.test": ["127.0.0.1"], "mixed.lies.test": [good, "127.0.0.1"], "denied.lies.test": [denied],
            "meta.lies.test": ["169.254.169.254"], "private.lies.test": ["10.0.0.1"], "zero.lies.test": ["0.0.0.0"],
            "web.lies.test": [good], "link.lies.test": ["169.254.1.1"], "shared.lies.test": ["100.64.0.1"],
        }
        self.v6 = {
            "six.lies.test": ["::1"], "mapped.lies.test": ["::ffff:127.0.0.1"],
            "nat64.lies.test": ["64:ff9b::7f00:1"],
        }

    def addresses(self, name, kind):
        if name.startswith("rebind") and kind == A:
            # Each name once where it may, and from then on where nobody may.
            first = name not in self.rebound
            self.rebound.add(name)
            return [self.good] if first else [self.denied]
        return (self.v4 if kind == A else self.v6).get(name, []) if kind in (A, AAAA) else []

    def answer(self, query, by_tcp):
        name, kind, question = named(query)
        self.asked.append(name)
        known = name in self.v4 or name in self.v6 or name in ALIASES or name.startswith("rebind")
        if name == LONG and not by_tcp:
            return query[:2] + b"\x83\x80" + struct.pack(">HHHH", 1, 0, 0, 0) + question
        records, owner = [], b"\xc0\x0c"
        if name in ALIASES and kind in (A, AAAA):
            target = packed(ALIASES[name])
            records.append(record(owner, ALIAS, target))
            name, owner = ALIASES[name], target
        for address in self.addresses(name, kind):
            family = socket.AF_INET if kind == A else socket.AF_INET6
            records.append(record(owner, kind, socket.inet_pton(family, address)))
        if kind in TELLING:
            records.append(record(owner, kind, bytes([len(self.secret)]) + self.secret))
        head = query[:2] + (b"\x81\x80" if known else b"\x81\x83") + struct.pack(">HHHH", 1, len(records), 0, 0)
        return head + question + b"".join(records)

    def serve(self, address):
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(address)
        streams = socket.create_server(address)

        def by_udp():
            while True:
                query, sender = datagrams.recvfrom(4096)
                try:
                    datagrams.sendto(self.answer(query, False), sender)
                except (IndexError, struct.error):
                    pass

        def by_tcp():
            while True:
                end, _ = streams.accept()
                with end, end.makefile("rwb") as file:
                    (length,) = struct.unpack(">H", file.read(2))
                    answer = self.answer(file.read(length), True)
                    file.write(struct.pack(">H", len(answer)) + answer)

        for loop in (by_udp, by_tcp):
            threading.Thread(target=loop, daemon=True).start()


def named(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += query[at] + 1
    return ".".join(labels).lower(), struct.unpack(">H", query[at + 1 : at + 3])[0], query[12 : at + 5]


def packed(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(owner, kind, data):
    return owner + struct.pack(">HHIH", kind, 1, 0, len(data)) + data
