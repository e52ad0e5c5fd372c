"""The real programs that the tests talk to: Sandgate, and the scripted model that stands behind it."""

import json
import os
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(os.environ.get("SANDGATE_TARGET", ROOT / "target"))

# The shell ends the program when its own standard input closes, which happens even if the tests are killed.
WITH_ITS_PARENT = '"$@" & cat >/dev/null; kill $!; wait'


class Program:
    """A program that says where it listens on its first line."""

    def __init__(self, arguments, env, log, before_the_address):
        self._process = subprocess.Popen(
            ["sh", "-c", WITH_ITS_PARENT, "sh", *map(str, arguments)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        line = self._process.stdout.readline().strip()
        assert line.startswith(before_the_address), f"not ready: {line!r}"
        self.url = line.removeprefix(before_the_address)

    def end(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Sandgate:
    """A server with a home of its own, which has the runtime that all tests share."""

    def __init__(self, config=None):
        homes = TARGET / "sdk" / "homes"
        homes.mkdir(parents=True, exist_ok=True)
        self.home = Path(tempfile.mkdtemp(dir=homes))
        (self.home / "runtimes").symlink_to(TARGET / "test-home" / "runtimes")
        arguments = [TARGET / "debug" / "sandgate", "serve", "--listen", "127.0.0.1:0"]
        if config:
            file = self.home / "config.yaml"
            file.write_text(config)
            arguments += ["--config", file]
        hidden = ("OPENAI_", "RUST_LOG")
        env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        env["SANDGATE_HOME"] = str(self.home)
        with open(self.home / "server.log", "w") as log:
            self._program = Program(arguments, env, log, "Sandgate is ready on ")
        self.url = self._program.url

    @classmethod
    def before(cls, model, api):
        return cls(f"pool: 2\nupstream: {{url: '{model.url}/v1', api: {api}}}\n")

    def end(self):
        self._program.end()
        shutil.rmtree(self.home, ignore_errors=True)


class ScriptedModel:
    def __init__(self):
        arguments = [TARGET / "debug" / "scripted-model", "--port", "0"]
        self._program = Program(arguments, dict(os.environ), None, "ready ")
        self.url = self._program.url

    def end(self):
        self._program.end()

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None
