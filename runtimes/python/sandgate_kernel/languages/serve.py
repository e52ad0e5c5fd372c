"""Serves one context whose language is not Python: cells go to a runner, what it answers becomes frames."""

import _signal
import json
import os

from .. import environment, frames
from . import bash, go, java, node, r, tools
from .ended import Ended

RUNNERS = {
    "bash": bash.Bash,
    "javascript": node.JavaScript,
    "typescript": node.TypeScript,
    "java": java.Java,
    "go": go.Go,
    "r": r.R,
}


def serve(kernel, settings):
    """Takes over from the Python kernel for as long as the engine is there. Never returns."""
    # Interrupts are for the language's own process, which is in the same group; here they only end waits.
    _signal.signal(_signal.SIGINT, on_interrupt)
    runner = RUNNERS[settings["language"]](Reporter(kernel.channel, settings))
    count = 0
    while True:
        frame = kernel.channel.receive()
        if frame is None:
            os._exit(0)
        kind, body = frame
        request = json.loads(body)
        if kind == frames.CONFIGURE:
            environment.configure(request)
            runner.configure()
        elif kind == frames.EXECUTE:
            count += 1
            runner.reporter.count = count
            status = execute(runner, request)
            kernel.channel.send_json(frames.DONE, {"execution_count": count, "status": status})


def execute(runner, request):
    try:
        return "ok" if runner.execute(request["code"], request.get("env") or {}) else "error"
    except Ended as end:
        leave(end)


def leave(end):
    """The language's process is gone, and its variables with it: so goes this one, in the same way."""
    if end.status < 0:
        _signal.signal(-end.status, _signal.SIG_DFL)
        os.kill(os.getpid(), -end.status)
    os._exit(end.status)


def on_interrupt(number, frame):
    """Nothing to do: whoever runs the code has been told as well."""


class Reporter:
    """What a runner says of a cell, as frames."""

    def __init__(self, channel, settings):
        self.channel = channel
        # Bytes that the sandbox may use; 0: not known.
        self.memory = settings.get("memory", 0)
        # The folder of the language's tools; a language that needs none has none.
        self.tools = tools.folder(settings.get("runtime", ""))
        self.count = 0

    def display(self, data):
        self.channel.send_json(frames.DISPLAY, {"data": data})

    def result(self, data):
        self.channel.send_json(frames.RESULT, {"data": data, "execution_count": self.count})

    def error(self, name, value, traceback):
        self.channel.send_json(frames.ERROR, {"name": name, "value": value, "traceback": traceback})

    def stderr(self, text):
        self.channel.send_stream(frames.STDERR, text.encode("utf-8", "replace"))
