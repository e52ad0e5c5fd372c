"""Go: each cell is compiled with what earlier cells declared, and run as a program of its own."""

import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile

from .spawn import spawn

ANSWERS = 4
MODULE = "module cell\n\ngo 1.22\n"
# For cells that import more than the standard library. No other toolchain than the one that is here; the standard
# library is taken as the runtime brought it, compiled, or the first such cell would compile it anew.
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
        self.root = reporter.tools
        self.kept = []
        self.folder = None
        # The last programs, so that one that is run again is not compiled again.
        self.built = {}
        self.program = None

    def configure(self):
        """Each program is started with the environment as it is then."""

    def execute(self, code, env):
        if self.folder is None:
            # Beside the context's files, not among them.
            self.folder = tempfile.mkdtemp(prefix="sandgate-go-")
            self.list_archives()
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

    def list_archives(self):
        """Tells compiler and linker where the standard library is; `internal` is for itself alone."""
        (tools_folder,) = glob.glob(f"{self.root}/pkg/tool/*_*")
        self.tools = tools_folder
        packages = f"{self.root}/pkg/{os.path.basename(tools_folder)}"
        paths = [path[len(packages) + 1 : -2] for path in glob.iglob(f"{packages}/**/*.a", recursive=True)]
        own = [path for path in paths if not {"internal", "vendor"} & set(path.split("/"))]
        for name, shown in (("link.cfg", paths), ("compile.cfg", own)):
            self.write(name, "".join(f"packagefile {path}={packages}/{path}.a\n" for path in shown))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)

    def compile(self, program):
        """What the compiler says against it; None when it is fine, and then `self.program` is its path."""
        key = hashlib.sha256(program.encode("utf-8", "replace")).hexdigest()[:16]
        self.program = os.path.join(self.folder, f"cell-{key}")
        if self.built.pop(key, None) is None:
            problem = self.compile_directly(program)
            if problem is not None:
                return problem
        self.built[key] = self.program
        while len(self.built) > MOST_BUILT:
            os.unlink(self.built.pop(next(iter(self.built))))
        return None

    def compile_directly(self, program):
        """Compiler and linker without the go command, which takes longer than both to see that there is little to do."""
        self.write("main.go", program)
        archive = ["-o", "main.a", "-p", "main", "-complete", "-c=2", "-pack", "main.go"]
        problem = self.tool("compile", "-importcfg", "compile.cfg", *archive)
        if problem is not None:
            return self.compile_with_modules() if "could not import" in problem else problem
        options = ["-importcfg", "link.cfg", "-buildmode=exe", "-s", "-w", "-o", self.program, "main.a"]
        return self.tool("link", *options)

    def tool(self, name, *arguments):
        environment = {**os.environ, "GOROOT": self.root, "GOMAXPROCS": SETTINGS["GOMAXPROCS"]}
        return self.said([f"{self.tools}/{name}", *arguments], environment)

    def compile_with_modules(self):
        self.write("go.mod", MODULE)
        environment = {**SETTINGS, **os.environ, "GOROOT": self.root}
        environment.setdefault("GOCACHE", os.path.join(environment.get("HOME", "/tmp"), ".cache", "go-build"))
        return self.said([f"{self.root}/bin/go", "build", "-o", self.program, "."], environment)

    def said(self, arguments, environment):
        done = subprocess.run(
            arguments,
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
        return "\n".join(line for line in text.splitlines() if not line.startswith("# ")) or "the compiler failed"

    def run(self, env):
        answers, theirs = os.pipe()
        process = spawn([self.program], {ANSWERS: theirs}, env={**os.environ, **env})
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
MOST_BUILT = 8


def first_line(text):
    return text.splitlines()[0] if text else ""
