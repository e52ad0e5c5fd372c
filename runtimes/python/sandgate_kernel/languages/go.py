"""Go: each cell is compiled with what earlier cells declared, and run as a program of its own."""

import json
import os
import shutil
import signal
import subprocess
import tempfile

from . import tools
from .spawn import spawn

ANSWERS = 4
MODULE = "module cell\n\ngo 1.22\n"
# No other toolchain than the one that is here. With the last one, the standard library is taken as the runtime
# brought it, compiled; without, the first cell of every sandbox would compile it anew.
SETTINGS = {
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=mod",
    "GOTELEMETRY": "off",
    "CGO_ENABLED": "0",
    "GODEBUG": "installgoroot=all",
    # The machine's processors are not this sandbox's, and each thread counts.
    "GOMAXPROCS": "2",
}


class Go:
    def __init__(self, reporter):
        self.reporter = reporter
        self.root = tools.folder("go")
        self.kept = []
        self.folder = None

    def configure(self):
        """Each program is started with the environment as it is then."""

    def execute(self, code, env):
        if self.folder is None:
            # Beside the context's files, not among them.
            self.folder = tempfile.mkdtemp(prefix="sandgate-go-")
        cell = self.compose(code)
        if "error" in cell:
            self.reporter.error("SyntaxError", first_line(cell["error"]), cell["error"].splitlines())
            return False
        problem = self.compile(cell["program"])
        if problem and cell.get("plain"):
            # The last expression has no value to show.
            problem = self.compile(cell["plain"])
        if problem == INTERRUPTED:
            return self.interrupted()
        if problem:
            self.reporter.error("CompileError", first_line(problem), problem.splitlines())
            return False
        self.kept = cell.get("kept") or []
        return self.run(env)

    def compose(self, code):
        request = json.dumps({"code": code, "kept": self.kept}).encode()
        done = subprocess.run([f"{self.root}/bin/gocell"], input=request, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def compile(self, program):
        """What the compiler says against it; None when it is fine."""
        for name, text in (("main.go", program), ("go.mod", MODULE)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
        environment = {**SETTINGS, **os.environ, "GOROOT": self.root}
        environment.setdefault("GOCACHE", os.path.join(environment.get("HOME", "/tmp"), ".cache", "go-build"))
        done = subprocess.run(
            [f"{self.root}/bin/go", "build", "-o", "cell", "."],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode == -signal.SIGINT or done.returncode == 128 + signal.SIGINT:
            return INTERRUPTED
        if done.returncode == 0:
            return None
        text = done.stdout.decode("utf-8", "replace")
        return "\n".join(line for line in text.splitlines() if not line.startswith("# ")) or "go build failed"

    def run(self, env):
        answers, theirs = os.pipe()
        program = os.path.join(self.folder, "cell")
        process = spawn([program], {ANSWERS: theirs}, env={**os.environ, **env})
        os.close(theirs)
        with os.fdopen(answers, "rb") as lines:
            value = lines.read(MOST_ANSWER)
        status = process.wait()
        for line in value.splitlines():
            self.reporter.result(json.loads(line)["data"])
        if status == -signal.SIGINT:
            return self.interrupted()
        if status != 0:
            words = f"signal {-status}" if status < 0 else f"exit status {status}"
            self.reporter.error("ExitStatus", str(status), [words])
        return status == 0

    def interrupted(self):
        self.reporter.error("KeyboardInterrupt", "the execution was interrupted", ["KeyboardInterrupt"])
        return False

    def close(self):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


INTERRUPTED = "interrupted"
MOST_ANSWER = 8 << 20


def first_line(text):
    return text.splitlines()[0] if text else ""
