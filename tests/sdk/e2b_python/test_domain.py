"""The way by a domain: names for the control plane and for each port of each sandbox, certificates, no path."""

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import threading

import pytest
import ways

# The SDK is told of a proxy, which is how it gets names resolved that no name server here knows.
PROGRAM = """
import os
from e2b_code_interpreter import Sandbox

sandbox = Sandbox.create(timeout=120, proxy=os.environ['PROXY'])
sandbox.files.write('a.txt', 'by a name')
print(sandbox.run_code("open('a.txt').read()").text)
print(sandbox.commands.run('echo $((6*7))').stdout.strip())
print(sandbox.get_host(3000) == f"3000-{sandbox.sandbox_id}.{os.environ['E2B_DOMAIN']}")
print(sandbox.download_url('a.txt').startswith(f"https://49983-{sandbox.sandbox_id}.{os.environ['E2B_DOMAIN']}/files"))
print(sandbox.kill())
"""


class Proxy:
    """Opens every name of the domain at this machine."""

    def __init__(self):
        self.names = []
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def serve():
            server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            await server.serve_forever()

        threading.Thread(target=self._loop.run_until_complete, args=(serve(),), daemon=True).start()
        assert ready.wait(30)

    async def _pass(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b" ", 2)
        name, _, port = target.decode().rpartition(":")
        assert method == b"CONNECT" and name.endswith(ways.DOMAIN), head
        self.names.append(name)
        inner, outer = await asyncio.open_connection("127.0.0.1", int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(reader, outer), _copy(inner, writer))


async def _copy(reader, writer):
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@pytest.fixture(scope="module")
def domain():
    server, variables = ways.at_a_domain()
    yield variables
    server.end()


def test_the_domain_alone_is_enough(domain, key):
    proxy = Proxy()
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = {**kept, **domain, "E2B_API_KEY": key, "PROXY": proxy.url}
    program = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=300)
    assert program.returncode == 0, program.stderr
    assert program.stdout.split("\n") == ["by a name", "42", "True", "True", "True", ""]
    assert f"api.{ways.DOMAIN}" in proxy.names
    assert any(name.startswith("49983-") for name in proxy.names)
    assert any(name.startswith("49999-") for name in proxy.names)


@pytest.mark.parametrize("trusts", [True, False], ids=["trusted", "not trusted"])
def test_only_who_trusts_the_authority_comes_in(domain, trusts):
    port = int(domain["E2B_DOMAIN"].rpartition(":")[2])
    context = ssl.create_default_context(cafile=domain["SSL_CERT_FILE"] if trusts else None)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        if not trusts:
            with pytest.raises(ssl.SSLCertVerificationError):
                context.wrap_socket(connection, server_hostname=f"api.{ways.DOMAIN}")
        else:
            with context.wrap_socket(connection, server_hostname=f"api.{ways.DOMAIN}") as secure:
                names = [name for _, name in secure.getpeercert()["subjectAltName"]]
                assert f"*.{ways.DOMAIN}" in names
