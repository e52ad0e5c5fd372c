"""What sandboxes look for outside: a name server that can lie, a host that is allowed, one that is not, and one on
the host's own loopback, all on loopback addresses of this machine. Ends with its standard input."""

import http.server
import io
import json
import socket
import ssl
import struct
import sys
import threading
import zipfile

settings = json.loads(sys.argv[1])
GOOD, BAD, NAMES = settings["good"], settings["bad"], settings["names"]
SECRET = settings["secret"].encode()
asked = []
zips = 0


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    content = b"GOOD"

    def do_GET(self):
        body, status, more = self.content, 200, []
        if self.path == "/redirect":
            status, more, body = 302, [("Location", "http://forbidden.test/secret")], b"there"
        elif self.path == "/asked":
            body = " ".join(asked).encode()
        elif self.path == "/token":
            # Only whoever sends the secret of this domain is told so; what came is not repeated.
            body = b"right" if self.headers.get("Authorization") == "Bearer " + settings["token"] else b"wrong"
        elif self.path == "/echo":
            # A server that repeats what it is sent, wherever it can.
            said = self.headers.get("X-Said", "")
            more, body = [("X-Heard", said), ("X-" + said, "1")], f"heard {said}".encode()
        elif self.path.startswith("/simple/"):
            return self.package()
        elif self.path.startswith("/go/"):
            return self.module()
        # Whoever is asked for another host than its own tells what it should not.
        elif "forbidden" in self.headers.get("Host", ""):
            body = SECRET
        self.answer(status, more, body)

    def package(self):
        """A registry with one package, for pip."""
        name = self.path.rsplit("/", 1)[-1]
        if name.endswith(".whl"):
            return self.answer(200, [("Content-Type", "application/octet-stream")], bytes.fromhex(settings["wheel"]))
        link = f'<a href="/simple/{settings["wheel_name"]}">{settings["wheel_name"]}</a>'
        return self.answer(200, [("Content-Type", "text/html")], f"<!DOCTYPE html><body>{link}</body>".encode())

    def module(self):
        """A proxy of Go modules with one module, which counts how often its content was fetched."""
        global zips
        files = {"hello.go": "package hello\n\nconst Word = \"installed\"\n", "go.mod": "module example.test/hello\n"}
        base = "/go/example.test/hello/@v/"
        if self.path == base + "list":
            return self.answer(200, [], b"v1.0.0\n")
        if self.path == base + "v1.0.0.info":
            return self.answer(200, [], b'{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}')
        if self.path == base + "v1.0.0.mod":
            return self.answer(200, [], files["go.mod"].encode())
        if self.path == base + "v1.0.0.zip":
            zips += 1
            content = io.BytesIO()
            with zipfile.ZipFile(content, "w") as module:
                for name, text in files.items():
                    module.writestr(f"example.test/hello@v1.0.0/{name}", text)
            return self.answer(200, [], content.getvalue())
        if self.path == "/go/zips":
            return self.answer(200, [], str(zips).encode())
        return self.answer(404, [], b"no such module")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(200, [], self.content)

    def answer(self, status, more, body):
        self.send_response(status)
        for name, value in more:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Telling(Page):
    content = SECRET


def serve(address, port, page, certificate=None):
    server = http.server.ThreadingHTTPServer((address, port), page)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def echo(address, port):
    server = socket.create_server((address, port))

    def one(end):
        while data := end.recv(65536):
            end.sendall(data)

    def loop():
        while True:
            end, _ = server.accept()
            threading.Thread(target=one, args=(end,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


# Names below lies.test are allowed by the policy, and lead where nobody may go.
# One below them is honest: it is reached on any port.
V4 = {
    "allowed.test": [GOOD], "data.wild.test": [GOOD], "a.wild.test": [GOOD], "raw.test": [GOOD],
    "forbidden.test": [BAD], "notallowed.test": [BAD], "evil.allowed.test": [BAD], "wild.test": [BAD],
    "loop.lies.test": ["127.0.0.1"], "mixed.lies.test": [GOOD, "127.0.0.1"], "alias.lies.test": ["127.0.0.1"],
    "meta.lies.test": ["169.254.169.254"], "private.lies.test": ["10.0.0.1"], "zero.lies.test": ["0.0.0.0"],
    "web.lies.test": [GOOD], "link.lies.test": ["169.254.1.1"], "shared.lies.test": ["100.64.0.1"],
}
V6 = {
    "six.lies.test": ["::1"], "mapped.lies.test": ["::ffff:127.0.0.1"], "nat64.lies.test": ["64:ff9b::7f00:1"],
}
rebinds = 0


def addresses(name, kind):
    global rebinds
    if name == "rebind.lies.test" and kind == 1:
        rebinds += 1
        return [GOOD] if rebinds == 1 else ["127.0.0.1"]
    return (V4 if kind == 1 else V6).get(name, []) if kind in (1, 28) else []


def named(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += query[at] + 1
    return ".".join(labels).lower(), struct.unpack(">H", query[at + 1 : at + 3])[0], query[12 : at + 5]


def answer(query):
    name, kind, question = named(query)
    asked.append(name)
    known = name in V4 or name in V6 or name.startswith("rebind.")
    records = b""
    found = addresses(name, kind)
    for address in found:
        packed = socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, address)
        records += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(packed)) + packed
    if kind == 16:
        text = SECRET[:200]
        records += b"\xc0\x0c" + struct.pack(">HHIH", 16, 1, 0, len(text) + 1) + bytes([len(text)]) + text
        found = [text]
    head = query[:2] + (b"\x81\x80" if known else b"\x81\x83") + b"\0\1" + struct.pack(">HHH", len(found), 0, 0)
    return head + question + records


def names():
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind(tuple(NAMES))

    def loop():
        while True:
            query, sender = end.recvfrom(4096)
            try:
                end.sendto(answer(query), sender)
            except (IndexError, struct.error):
                pass

    threading.Thread(target=loop, daemon=True).start()


names()
serve(GOOD, 80, Page)
serve(GOOD, 8080, Page)
serve(GOOD, 443, Page, settings["good_certificate"])
serve(BAD, 80, Telling)
serve(BAD, 443, Telling, settings["bad_certificate"])
echo(GOOD, 7000)
port = serve("127.0.0.1", 0, Telling)
# The rebinding name leads to the same port at both.
serve(GOOD, port, Page)
# And something at an address of the host that is not loopback.
own_port = serve(settings["own"], 0, Telling)
print(port, own_port, flush=True)
sys.stdin.read()
