"""The two ways to a server: one port and a path, or a domain with names and certificates."""

import importlib.metadata
import os
import socket

import outside
from programs import Sandgate

DOMAIN = "sandgate.test"
# Older releases of the code interpreter do not read E2B_SANDBOX_URL.
FIRST_ON_ONE_PORT = (2, 9)


def one_port_is_enough():
    version = importlib.metadata.version("e2b-code-interpreter")
    return tuple(int(part) for part in version.split(".")[:2]) >= FIRST_ON_ONE_PORT


def on_one_port():
    """The one-line switch, as users have it in their shell."""
    server = Sandgate("pool: 2\n" + outside.NETWORK)
    address = f"{server.url}/e2b"
    return server, {"E2B_API_URL": address, "E2B_SANDBOX_URL": address}


def at_a_domain():
    """`E2B_DOMAIN` alone; the certificate is of an authority that the server made for itself."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    listen = f"listen: '127.0.0.1:{port}', self_signed: true"
    server = Sandgate(f"pool: 2\ne2b: {{domain: '{DOMAIN}:{port}', {listen}}}\n" + outside.NETWORK)
    authority = server.home / "authority" / "ca.pem"
    return server, {"E2B_DOMAIN": f"{DOMAIN}:{port}", "SSL_CERT_FILE": str(authority)}


def know_the_domain():
    """What a wildcard entry in somebody's name server does: every name of the domain is this machine."""
    asked = socket.getaddrinfo

    def answer(host, *words, **named):
        name = host.decode() if isinstance(host, bytes) else host
        here = isinstance(name, str) and name.endswith(f".{DOMAIN}")
        return asked("127.0.0.1" if here else host, *words, **named)

    socket.getaddrinfo = answer


def set_environment(variables):
    for name in [name for name in os.environ if name.startswith("E2B_")]:
        del os.environ[name]
    os.environ.update(variables)
