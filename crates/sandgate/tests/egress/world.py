"""What sandboxes look for outside: a name server that can lie, a host that is allowed, one that is not, one that nobody
may reach, and one on the host's own loopback, all on loopback addresses of this machine. Ends with its standard
input."""

import http.server
import io
import json
import socket
import ssl
import sys
import tarfile
import threading
import zipfile

import world_names

settings = json.loads(sys.argv[1])
GOOD, BAD, DENIED = settings["good"], settings["bad"], settings["denied"]
SECRET = settings["secret"].encode()
NAMES = world_names.Names(good=GOOD, bad=BAD, denied=DENIED, secret=SECRET)
zips = 0


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    content = b"GOOD"

    def do_GET(self):
        body, status, more = self.content, 200, []
        if self.path == "/redirect":
            status, more, body = 302, [("Location", "http://forbidden.test/secret")], b"there"
        elif self.path == "/redirect-inside":
            status, more, body = 302, [("Location", "http://denied.lies.test/secret")], b"there"
        elif self.path == "/asked":
            body = " ".join(NAMES.asked).encode()
        elif self.path == "/token":
            # Only whoever sends the secret of this domain is told so; what came is not repeated.
            body = b"right" if self.headers.get("Authorization") == "Bearer " + settings["token"] else b"wrong"
        elif self.path == "/echo":
            # A server that repeats what it is sent, wherever it can.
            said = self.headers.get("X-Said", "")
            more, body = [("X-Heard", said), ("X-" + said, "1")], f"heard {said}".encode()
        elif self.path.startswith("/simple/"):
            return self.package()
        elif self.path == "/p.tgz":
            body, more = module_of_node(), [("Content-Type", "application/gzip")]
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


def module_of_node():
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in {
            "package.json": '{"name": "sandgate-probe", "version": "1.0.0"}',
            "index.js": 'module.exports = "installed"',
        }.items():
            about = tarfile.TarInfo(f"package/{name}")
            about.size = len(text)
            archive.addfile(about, io.BytesIO(text.encode()))
    return content.getvalue()


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


def packets(address, port):
    """Answers every packet (UDP) with the secret."""
    end = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    end.bind((address, port))

    def loop():
        while True:
            _, sender = end.recvfrom(4096)
            end.sendto(SECRET, sender)

    threading.Thread(target=loop, daemon=True).start()


NAMES.serve(tuple(settings["names"]))
serve(GOOD, 80, Page)
serve(GOOD, 8080, Page)
serve(GOOD, 443, Page, settings["good_certificate"])
serve(BAD, 80, Telling)
serve(BAD, 443, Telling, settings["bad_certificate"])
serve(DENIED, 80, Telling)
echo(GOOD, 7000)
# As a server of QUIC would listen beside its web pages.
packets(GOOD, 443)
port = serve("127.0.0.1", 0, Telling)
# A name that leads to both is asked for on one port.
serve(GOOD, port, Page)
# And something at an address of the host that is not loopback.
own_port = serve(settings["own"], 0, Telling)
packets(settings["own"], own_port)
print(port, own_port, flush=True)
sys.stdin.read()
