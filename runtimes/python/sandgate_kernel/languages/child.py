"""A language's own process that takes cells from descriptor 3 and answers on descriptor 4, in JSON, one message a line.

What the code prints goes to descriptors 1 and 2, which the engine reads; the driver has flushed it before it answers.
"""

import json
import os

from .ended import Ended
from .spawn import spawn

REQUESTS, ANSWERS = 3, 4
READ_SIZE = 1 << 16
# A driver is part of the sandbox: one that sends for ever without an end of line is ended, not waited for.
MOST_UNREAD = 64 << 20


class Child:
    """Started at the first cell, so that it finds the environment the context was given."""

    def __init__(self, reporter, arguments):
        self.reporter = reporter
        self.arguments = arguments
        self.process = None
        self.unread = b""
        # Further descriptors that it is started with.
        self.lent = {}

    def configure(self):
        """The environment of a process cannot be changed from outside: the next one gets it."""

    def execute(self, code, env):
        if self.process is None:
            self.start()
        self.send(self.request(code, env))
        while True:
            message = self.receive()
            op = message.get("op")
            if op == "result":
                self.reporter.result(message["data"])
            elif op == "display":
                self.reporter.display(message["data"])
            elif op == "error":
                value, traceback = "\n".join(self.shown(message["value"].split("\n"))), self.shown(message["traceback"])
                self.reporter.error(message["name"], value, traceback)
            elif op == "done":
                return message["status"] == "ok"
            else:
                self.other(message)

    def shown(self, lines):
        """Of what is said about an error, what the author of a cell is to see."""
        return lines

    def other(self, message):
        """A message of a kind that only some drivers send."""

    def start(self):
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()

        self.process = spawn(self.arguments, {REQUESTS: requests, ANSWERS: answers, **self.lent})
        os.close(requests)
        os.close(answers)
        self.receive()

    def request(self, code, env):
        """The line that asks for a cell."""
        return json.dumps({"op": "execute", "code": code, "env": env}).encode()

    def send(self, line):
        self.write(line + b"\n")

    def write(self, data):
        data = memoryview(data)
        try:
            while data:
                data = data[os.write(self.requests, data) :]
        except BrokenPipeError:
            raise Ended(self.process.wait()) from None

    def receive(self):
        while b"\n" not in self.unread:
            part = os.read(self.answers, READ_SIZE)
            if not part or len(self.unread) > MOST_UNREAD:
                self.process.kill() if part else None
                raise Ended(self.process.wait())
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)
