# The client of the network's benchmark: the same text runs on the host and inside a sandbox. `plan` says what to measure.
import json, socket, sys, time

PIECE = 256 << 10


def opened(plan):
    way, host, port = plan["way"], plan["host"], plan["port"]
    end = socket.socket()
    if plan["congestion"]:
        # Before it connects: a connection that began paced stays so. Inside, the engine has seen to it.
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, plan["congestion"].encode())
    end.connect(("127.0.0.1", 3128) if way in ("tunnel", "http") else (host, port))
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if way == "tunnel":
        end.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        ok(end)
    return end


def ok(end):
    """The head of an answer, read no further."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += end.recv(1)
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"refused: {head!r}")


def taken(end):
    buffer, total = bytearray(PIECE), 0
    while got := end.recv_into(buffer):
        total += got
    return total


def received(plan):
    end = opened(plan)
    if plan["way"] == "http":
        host = f"{plan['host']}:{plan['port']}"
        end.sendall(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        ok(end)
    else:
        end.sendall(b"1")
    began = time.perf_counter()
    came = taken(end)
    took = time.perf_counter() - began
    if came != plan["bytes"]:
        raise SystemExit(f"{came} of {plan['bytes']} bytes came")
    return came / 1e9 / took


def sent(plan):
    end, piece = opened(plan), bytes(PIECE)
    end.sendall(b"2")
    began = time.perf_counter()
    for _ in range(plan["bytes"] // PIECE):
        end.sendall(piece)
    end.shutdown(socket.SHUT_WR)
    if end.recv(1) != b"0":
        raise SystemExit("the server has not got all")
    return plan["bytes"] / 1e9 / (time.perf_counter() - began)


def connected(plan):
    began = time.perf_counter()
    with opened(plan) as end:
        end.sendall(b"0")
        if end.recv(1) != b"0":
            raise SystemExit("no answer")
    return (time.perf_counter() - began) * 1000


def measured(plan):
    what = {"received": received, "sent": sent, "connected": connected}[plan["what"]]
    return [what(plan) for _ in range(plan["times"])]


print(json.dumps(measured(json.loads(PLAN))))
