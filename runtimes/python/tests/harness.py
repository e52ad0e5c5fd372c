"""Drives a real kernel from a test: forks a process that serves cells and plays the engine on the other end."""

import json
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ["MPLBACKEND"] = "agg"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from sandgate_kernel import memory, preload  # noqa: E402  the settings above must come first

NAMES = {0x80: "ready", 0x81: "stdout", 0x82: "stderr", 0x83: "display", 0x84: "result", 0x85: "error", 0x86: "done"}
# The same tests hold in both modes; test_lean.py runs them all again with this set to "lean".
MODE = os.environ.get("KERNEL_TEST_MODE", "full")
_kernel = None


def warm_kernel():
    """The warm kernel, made once: tests fork from it as the engine does."""
    global _kernel
    if _kernel is None:
        _kernel = preload.make_kernel(MODE == "full")
        memory.settle()
    return _kernel


class Run:
    """The frames of one execution, with short names for what tests ask most."""

    def __init__(self, frames):
        self.frames = frames
        self.kinds = [kind for kind, _ in frames]
        self.stdout = b"".join(body for kind, body in frames if kind == "stdout").decode()
        self.stderr = b"".join(body for kind, body in frames if kind == "stderr").decode()
        self.displays = [body["data"] for kind, body in frames if kind == "display"]
        self.results = [body["data"] for kind, body in frames if kind == "result"]
        self.error = next((body for kind, body in frames if kind == "error"), None)
        self.done = frames[-1][1]
        self.ok = self.done["status"] == "ok"

    @property
    def result(self):
        return self.results[0]

    @property
    def text(self):
        return self.results[0]["text/plain"] if self.results else None

    @property
    def traceback(self):
        return "\n".join(self.error["traceback"])


class Engine:
    """The engine's end of one kernel."""

    def __init__(self, configure=True):
        warm = warm_kernel()
        self.home = tempfile.mkdtemp(prefix="kernel-test-")
        self.socket, theirs = socket.socketpair()
        pipes = [os.pipe(), os.pipe()]
        self.pid = os.fork()
        if self.pid == 0:
            self.socket.close()
            os.setsid()
            null = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((null, 0), (pipes[0][1], 1), (pipes[1][1], 2)):
                os.dup2(source, target)
                os.close(source)
            warm.serve(theirs.detach(), pipes[0][0], pipes[1][0])
        theirs.close()
        self.pipes = {pipes[0][0]: "stdout", pipes[1][0]: "stderr"}
        for read, write in pipes:
            os.set_blocking(read, False)
            os.close(write)
        self.buffer = b""
        self.ready = self.next_frame(10)
        if configure:
            self.configure()

    def configure(self, cwd=None, **extra):
        # In a sandbox pip needs no telling: see startup/. Here it must leave the runtime alone.
        packages = {"PIP_PREFIX": os.path.join(self.home, ".packages"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "MPLBACKEND": "agg", **packages, **extra}
        self.send(1, {"env": env, "cwd": cwd or self.home})

    def send(self, kind, value):
        body = json.dumps(value).encode()
        self.socket.sendall(struct.pack("<IB", len(body) + 1, kind) + body)

    def run(self, code, timeout=20, **more):
        self.start(code, **more)
        return self.collect(timeout)

    def start(self, code, **more):
        self.send(2, {"code": code, **more})

    def collect(self, timeout=20):
        frames = []
        end = time.monotonic() + timeout
        while not frames or frames[-1][0] != "done":
            frames.append(self.next_frame(end - time.monotonic()))
        return Run(frames)

    def next_frame(self, timeout):
        """One frame; as the engine does, empties the pipes when the kernel is silent, so that no child blocks."""
        end = time.monotonic() + timeout
        while True:
            if len(self.buffer) >= 4:
                (length,) = struct.unpack_from("<I", self.buffer)
                if len(self.buffer) >= 4 + length:
                    body, self.buffer = self.buffer[4 : 4 + length], self.buffer[4 + length :]
                    name = NAMES[body[0]]
                    return name, body[1:] if name in ("stdout", "stderr") else json.loads(
                        body[1:], parse_constant=refuse
                    )
            if time.monotonic() > end:
                raise TimeoutError("the kernel did not answer in time")
            if select.select([self.socket], [], [], 0.02)[0]:
                data = self.socket.recv(1 << 20)
                if not data:
                    raise EOFError("the kernel has ended")
                self.buffer += data
                continue
            for pipe in select.select(list(self.pipes), [], [], 0)[0]:
                try:
                    data = os.read(pipe, 1 << 16)
                except BlockingIOError:
                    continue
                if data:
                    return self.pipes[pipe], data

    def interrupt_after(self, seconds):
        timer = threading.Timer(seconds, os.killpg, (self.pid, signal.SIGINT))
        timer.start()
        return timer

    def close(self):
        self.socket.close()
        if self.pid is not None:  # None: a test has waited for its end
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(self.pid, 0)
        for pipe in self.pipes:
            os.close(pipe)


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


class KernelTest(unittest.TestCase):
    """A test case with a fresh kernel for each test."""

    def setUp(self):
        self.engine = Engine()
        self.addCleanup(self.engine.close)

    def run_cell(self, code, timeout=20, **more):
        return self.engine.run(code, timeout, **more)

    def assert_ok(self, code, timeout=20, **more):
        run = self.run_cell(code, timeout, **more)
        self.assertTrue(run.ok, run.error and run.traceback)
        return run
