"""ipykernel through jupyter_client, driven by lines on standard input: one JSON request, one JSON answer.

A request {"wait": "usual" | "least", "first": CODE, "again": CODE, "cells": N} starts a kernel, runs `first`, then
`again` N times, and answers with the times in milliseconds and the kernel's private memory in bytes.

"usual" waits for the kernel as jupyter_client's own `wait_for_ready` does, which ends with 200 ms of silence.
"least" waits only until the kernel has answered on both channels: nobody can send code sooner and be sure of its
output.
"""

import json
import sys
import time
from queue import Empty

from jupyter_client import KernelManager


def wait_least(client):
    while True:
        asked = client.kernel_info()
        while client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != asked:
            pass
        try:
            # The subscription to the output is sometimes later than the answer; then it has to be asked again.
            client.get_iopub_msg(timeout=0.02)
            return
        except Empty:
            continue


def run(client, code):
    """The value of the last expression, once the kernel is idle again."""
    asked = client.execute(code)
    value = None
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        if message["msg_type"] == "execute_result":
            value = content["data"]["text/plain"]
        elif message["msg_type"] == "error":
            raise RuntimeError("\n".join(content["traceback"]))
        elif message["msg_type"] == "status" and content["execution_state"] == "idle":
            break
    while client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != asked:
        pass
    return value


def timed(client, code, since=None):
    since = time.perf_counter() if since is None else since
    value = run(client, code)
    took = (time.perf_counter() - since) * 1000
    if value != "42":
        raise RuntimeError(f"the kernel answered {value!r}")
    return took


def private_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        return sum(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Private_"))


def measure(request):
    manager = KernelManager()
    begun = time.perf_counter()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        if request["wait"] == "usual":
            client.wait_for_ready(timeout=60)
        else:
            wait_least(client)
        first = timed(client, request["first"], begun)
        again = [timed(client, request["again"]) for _ in range(request["cells"])]
        time.sleep(0.1)
        return {"first": first, "again": again, "private": private_bytes(manager.provisioner.pid)}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


for line in sys.stdin:
    print(json.dumps(measure(json.loads(line))), flush=True)
