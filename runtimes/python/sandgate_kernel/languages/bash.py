"""Bash: one interactive shell, so that variables, functions and the working folder last and an interrupt only ends the cell."""

import os
import shlex
import subprocess

from .ended import Ended
from .spawn import spawn

PROGRAM = "/usr/bin/bash"
ANSWERS, ERRORS, COMMANDS = 4, 5, 6
# The shell tells the status of each cell by its prompt command, which also runs after an interrupt. Standard error
# is opened late: a shell without a terminal would begin with a complaint about that.
PREPARE = f"""
exec 2>&{ERRORS} {ERRORS}>&- {COMMANDS}<&-
set +o history +H +m
PS1= PS2=
readonly PROMPT_COMMAND='builtin printf "%s\\n" "$?" >&{ANSWERS}'
"""


class Bash:
    def __init__(self, reporter):
        self.reporter = reporter
        self.process = None

    def configure(self):
        """As with a login shell: the environment is what it was when the shell started."""

    def execute(self, code, env):
        if self.process is None:
            self.start()
        # Variables of this run alone stand before it, as before any command. The code is one word for the shell,
        # whatever it holds, and its input is not the shell's own.
        words = [f"{name}={shlex.quote(value)}" for name, value in env.items()]
        words += ["eval", shlex.quote(code), "</dev/null", f"{ANSWERS}>&-"]
        self.send(" ".join(words) + "\n")
        status = self.status()
        if status != 0:
            self.reporter.error("ExitStatus", str(status), [f"exit status {status}"])
        return status == 0

    def start(self):
        self.answers, answers = os.pipe()
        reader, writer = os.pipe()
        errors = os.dup(2)
        os.write(writer, PREPARE.encode())
        os.close(writer)

        arguments = [PROGRAM, "--noprofile", "--rcfile", f"/proc/self/fd/{COMMANDS}", "--noediting", "-i"]
        descriptors = {ANSWERS: answers, ERRORS: errors, COMMANDS: reader}
        self.process = spawn(arguments, descriptors, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for descriptor in (answers, reader, errors):
            os.close(descriptor)
        self.unread = b""
        self.status()

    def send(self, text):
        try:
            self.process.stdin.write(text.encode("utf-8", "surrogateescape"))
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Ended(self.process.wait()) from None

    def status(self):
        while b"\n" not in self.unread:
            part = os.read(self.answers, 4096)
            if not part:
                raise Ended(self.process.wait())
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        return int(line)
