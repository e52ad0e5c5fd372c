"""Ports that programs open inside: reached from outside with the traffic token, and only with it."""

from types import SimpleNamespace

import pytest
from e2b.sandbox.sandbox_api import SandboxNetworkOpts
from words import ask, needs, until

pytestmark = pytest.mark.anyio

SERVER = "python3 -m http.server 8000 --directory /home/user"


async def through(url, sandbox, port, path="/", **headers):
    headers = {"E2b-Sandbox-Id": sandbox.sandbox_id, "E2b-Sandbox-Port": str(port), **headers}
    return await ask("GET", f"{url}/e2b{path}", headers=headers)


async def test_a_server_inside_is_reached_with_the_token(url, make):
    async with make(network={"allow_public_traffic": False}) as sandbox:
        await sandbox.files.write("page.txt", "from inside")
        await sandbox.commands.run(SERVER, background=True)
        token = {"E2B-Traffic-Access-Token": sandbox.traffic_access_token}

        async def answered():
            status, _, text = await through(url, sandbox, 8000, "/page.txt", **token)
            return status == 200 and text

        assert await until(answered) == b"from inside"
        status, _, said = await through(url, sandbox, 8000, "/page.txt")
        assert status == 403 and said["code"] == 403
        wrong = {"E2B-Traffic-Access-Token": "x" * len(sandbox.traffic_access_token)}
        status, _, _ = await through(url, sandbox, 8000, "/page.txt", **wrong)
        assert status == 403


async def test_a_port_that_nobody_listens_on_is_told(url, make):
    async with make(network={"allow_public_traffic": False}) as sandbox:
        token = {"E2B-Traffic-Access-Token": sandbox.traffic_access_token}
        status, _, said = await through(url, sandbox, 8001, **token)
        assert status == 502 and "port is not open" in said["message"]
        assert (said["sandboxId"], said["port"], said["code"]) == (sandbox.sandbox_id, 8001, 502)


async def test_the_host_of_a_port_names_port_and_sandbox(sandbox):
    assert sandbox.get_host(3000).startswith(f"3000-{sandbox.sandbox_id}.")


TELLS_ITS_HEADERS = """
import http.server, ssl, sys
class Tells(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(self.headers).encode())
server = http.server.HTTPServer(("127.0.0.1", 8443), Tells)
if sys.argv[1:] == ["tls"]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("both.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=inside -keyout key.pem -out cert.pem"


@pytest.mark.parametrize("tls", [False, True])
async def test_a_server_that_speaks_tls_is_reached_where_its_port_is_named(url, make, tls):
    network = {"allow_public_traffic": False, "mask_request_host": "known.example:${PORT}"}
    if tls:
        needs(SimpleNamespace(**SandboxNetworkOpts.__annotations__), "https_ports")
        network["https_ports"] = [8443]
    async with make(network=network) as sandbox:
        await sandbox.files.write("tells.py", TELLS_ITS_HEADERS)
        if tls:
            await sandbox.commands.run(f"{CERTIFICATE} && cat key.pem cert.pem > both.pem")
        await sandbox.commands.run(f"python3 tells.py {'tls' if tls else ''}", background=True)
        token = {"E2B-Traffic-Access-Token": sandbox.traffic_access_token}

        async def answered():
            status, _, text = await through(url, sandbox, 8443, **token)
            return status == 200 and text

        # In the writing that small servers expect.
        assert b"Host: known.example:8443" in await until(answered)
