"""Something outside that sandboxes may be allowed to reach, on an address of this machine that nothing else has."""

import contextlib
import http.server
import threading

ADDRESS = "127.93.7.2"
# What a server needs for it, and a host that an example of OpenSandbox's asks for. Whoever asks for nothing still
# reaches nothing.
NETWORK = f"network: {{ceiling: ['{ADDRESS}', www.github.com], allow_private: ['{ADDRESS}/32']}}\n"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"outside")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served():
    """The address of a page, in the words of a command that prints the status of asking for it."""
    server = http.server.ThreadingHTTPServer((ADDRESS, 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"curl -s -o /dev/null -w '%{{http_code}}' --max-time 60 http://{ADDRESS}:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
