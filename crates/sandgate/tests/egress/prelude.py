# Helpers for the attempts to get past a network policy. The harness puts this file before each of them.
#
# An attempt ends with one line: `ESCAPED <what it got>` or `BLOCKED <why>`. A fault of the attempt itself prints
# `BROKEN <fault>`, so that a mistake is never taken for a wall that held.
import errno
import os
import socket
import ssl
import struct
import time
import urllib.error
import urllib.request

GOOD, BAD = "{{GOOD}}", "{{BAD}}"  # addresses of a host that is allowed and of one that is not
HOST_PORT, SERVER_PORT = int("{{HOST_PORT}}"), int("{{SERVER_PORT}}")  # at the host's loopback
PROXY, SOCKS, DNS = ("127.0.0.1", 3128), ("127.0.0.1", 1080), ("127.0.0.1", 53)
PATIENCE = 30


class Blocked(Exception):
    """The attempt came to nothing, for a reason that is not an error number."""


def secret():
    """What the forbidden hosts answer with. It stands here backwards, so that no echo of this text counts."""
    return "{{SECRET_REVERSED}}"[::-1].encode()


# What the proxy says, and the word for it here.
REASONS = (
    (b"no rule allows", "not-allowed"),
    (b"leads nowhere allowed", "denied-address"),
    (b"the request inside names", "disagrees"),
    (b"of what the operator", "ceiling"),
    (b"its rule", "rule"),
    (b"is the sandbox itself", "itself"),
    (b"is not the name of a host", "not-a-host"),
    (b"'Host' cannot be read", "host-header"),
    (b"no name and password", "password"),
    (b"cannot be reached", "unreached"),
    (b"Denied by the network policy", "denied"),
)


def judged(data):
    """What came back: the secret, or the reason why not."""
    if secret() in data:
        return "the secret"
    for text, word in REASONS:
        if text in data:
            raise Blocked(word)
    if data.startswith(b"HTTP/"):
        raise Blocked("http-" + data.split(b" ", 2)[1].decode("latin-1"))
    raise Blocked("empty" if not data else "other-content")


def connected(address, family=socket.AF_INET):
    end = socket.socket(family, socket.SOCK_STREAM)
    end.settimeout(PATIENCE)
    end.connect(address)
    return end


def rest(end, until=None):
    data = b""
    while until is None or until not in data:
        try:
            part = end.recv(65536)
        except ConnectionResetError:
            break
        if not part:
            break
        data += part
    return data


def asked(end, request):
    """Sends and reads to the end."""
    with end:
        end.sendall(request)
        return rest(end)


def get(host, path="/secret", more=""):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode()


def by_proxy(url, host=None, more=""):
    """A plain request through the HTTP proxy."""
    host = host or url.split("/")[2]
    request = f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
    return asked(connected(PROXY), request.encode())


def tunnel(target, host=None):
    """A tunnel through the HTTP proxy; raises Blocked with the proxy's reason."""
    end = connected(PROXY)
    end.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {host or target}\r\n\r\n".encode())
    head = rest(end, b"\r\n\r\n")
    if head.split(b"\r\n", 1)[0].split(b" ")[1:2] != [b"200"]:
        # The proxy would take another request on the same connection.
        end.shutdown(socket.SHUT_WR)
        judged(head + rest(end))
    return end


def with_tls(end, name):
    """TLS with this name inside; what is on the other side is not checked, as an attacker would not."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        return context.wrap_socket(end, server_hostname=name)
    except ssl.SSLError as error:
        raise Blocked("tls-alert" if "ALERT" in str(error).upper() else "tls-" + str(error.reason)) from None
    except (ConnectionResetError, OSError) as error:
        raise Blocked(errno.errorcode.get(error.errno, "reset")) from None


def by_socks(kind, address, port):
    """A connection through the SOCKS proxy. `kind`: 1 an IPv4 address, 3 a name, 4 an IPv6 address."""
    end = connected(SOCKS)
    end.sendall(b"\x05\x01\x00")
    if rest_exactly(end, 2) != b"\x05\x00":
        raise Blocked("socks-greeting")
    body = address if kind != 3 else bytes([len(address)]) + address
    end.sendall(bytes([5, 1, 0, kind]) + body + struct.pack(">H", port))
    answer = rest_exactly(end, 4)
    if answer[1:2] != b"\x00":
        raise Blocked(f"socks-{answer[1] if len(answer) > 1 else 'closed'}")
    rest_exactly(end, {1: 6, 4: 18}.get(answer[3], 6))
    return end


def rest_exactly(end, count):
    data = b""
    while len(data) < count:
        part = end.recv(count - len(data))
        if not part:
            break
        data += part
    return data


def question(name, kind=1):
    labels = b"".join(bytes([len(label)]) + label for label in name.encode("latin-1").split(b".")) + b"\0"
    return struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack(">HH", kind, 1)


def resolved(name, kind=1):
    """What our name server says: its code and the whole answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.settimeout(PATIENCE)
        end.sendto(question(name, kind), DNS)
        answer = end.recv(65536)
    return answer[3] & 15, answer


def address_of(name):
    try:
        return socket.gethostbyname(name)
    except socket.gaierror:
        raise Blocked("no-such-name") from None


def followed(url):
    """What is at the end of a redirect, which the program itself follows, by the HTTP proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))
    try:
        with opener.open(url, timeout=PATIENCE) as page:
            return page.read()
    except urllib.error.HTTPError as error:
        return error.read()


def rebound(fetch):
    """What a name gives that leads to an allowed host once, and then elsewhere."""
    name = f"rebind-{os.urandom(6).hex()}.lies.test"
    first = fetch(name)
    if b"GOOD" not in first:
        raise ValueError(f"the name does not lead to the allowed host at first: {first[:200]}")
    # A lookup is kept for a few seconds. However slow the machine is, it is over at some time.
    for _ in range(60):
        time.sleep(1)
        data = fetch(name)
        if b"GOOD" not in data:
            return judged(data)
    raise ValueError("the name was never looked up again")


def _outcome(action):
    try:
        return f"ESCAPED {action()}"
    except Blocked as reason:
        return f"BLOCKED {reason}"
    except TimeoutError:
        return "BROKEN it took too long: what is denied must be refused at once"
    except OSError as error:
        return f"BLOCKED {errno.errorcode.get(error.errno, error)}"
    except Exception as fault:
        return f"BROKEN {type(fault).__name__}: {fault}"


def attempt(action):
    print(" ".join(_outcome(action).split()), flush=True)


# ---- the attempt ----
