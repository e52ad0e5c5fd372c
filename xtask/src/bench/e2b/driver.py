"""Times every step of a sandbox through E2B's own SDK, at two servers in turn.

Arguments: how many rounds, and for each server its name and address. One line of JSON for each server and round.
"""

import json
import sys
import time

from e2b_code_interpreter import Sandbox

SIZES = {"1kb": 1024, "1mb": 1024**2, "100mb": 100 * 1024**2}
CONTENT = {name: bytes(size) for name, size in SIZES.items()}
# How often a step is repeated within a round, so that a round's median is not one stall.
AGAIN = {"warm": 9, "command": 5, "1kb": 5, "1mb": 3, "100mb": 1}


def round_of(address):
    times = {}

    def timed(name, step):
        begun = time.perf_counter()
        given = step()
        times.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
        return given

    urls = {"api_url": address, "sandbox_url": address}
    sandbox = timed("create", lambda: Sandbox.create(timeout=300, **urls))
    try:
        first = timed("first", lambda: sandbox.run_code("print(6*7)"))
        assert first.logs.stdout == ["42\n"], first
        times["create_first"] = [times["create"][0] + times["first"][0]]
        for _ in range(AGAIN["warm"]):
            timed("warm", lambda: sandbox.run_code("print(6*7)"))
        for _ in range(AGAIN["command"]):
            assert timed("command", lambda: sandbox.commands.run("echo 42")).stdout == "42\n"
        for name, size in SIZES.items():
            path = f"/home/user/{size}.bin"
            for _ in range(AGAIN[name]):
                timed(f"write_{name}", lambda: sandbox.files.write(path, CONTENT[name], request_timeout=300))
                read = timed(f"read_{name}", lambda: sandbox.files.read(path, format="bytes", request_timeout=300))
                assert len(read) == size, (len(read), size)
    finally:
        assert timed("kill", sandbox.kill) is True
    return times


def main():
    rounds, *words = sys.argv[1:]
    servers = list(zip(words[::2], words[1::2], strict=True))
    # Once for connections and caches, not counted.
    for _, address in servers:
        round_of(address)
    for number in range(int(rounds)):
        # Another one first each time, so that none always follows the other.
        turn = number % len(servers)
        for name, address in servers[turn:] + servers[:turn]:
            print(json.dumps({"server": name, "times": round_of(address)}), flush=True)


main()
