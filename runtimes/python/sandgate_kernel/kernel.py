"""The kernel of one context: takes cells from the engine, runs them, and reports what they print, show and raise."""

import _signal
import builtins
import ctypes
import fcntl
import gc
import json
import os
import platform
import sys

from . import display, environment, errors, frames, session, streams
from .cells import Cells
from .interrupts import Interrupts

STARTS_PROGRAM = frozenset(
    ("os.system", "subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "pty.spawn")
)
LEAST_RECURSION = 1000
UNBUFFERED = 2  # C's _IONBF
VERSION = platform.python_version()


class Kernel:
    """Made once in the warm process; each fork attaches it to its own socket and pipes."""

    def __init__(self, shell):
        self.shell = shell
        self.session = session.Session(shell)
        self.cells = Cells(shell)
        self.interrupts = Interrupts()
        self.channel = None
        self.stdin = streams.NoStdin()
        self.program_started = False
        self.builtins = dict(vars(builtins))
        shell.builtin_trap_names = self.builtins
        self.flush_c = unbuffer_c_output()
        shell.publish_display = self.send_display
        shell.publish_result = self.send_result
        sys.addaudithook(self.on_audit)
        os.register_at_fork(after_in_child=self.after_fork_in_child)

    def attach(self, control, out, err):
        self.channel = frames.Channel(control, out, err, self.interrupts)
        # Copies of 1 and 2, for the case that a cell closes or redirects them.
        self.spare = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in (1, 2)]
        self.stdout, self.stderr = streams.make_pair(self.channel)
        self.prepare()

    def detach(self):
        for descriptor in self.spare:
            os.close(descriptor)
        self.channel = None

    def serve(self, control, out, err):
        """Serves until the engine hangs up. Never returns."""
        self.attach(control, out, err)
        environment.renew_secrets()
        self.channel.send_json(frames.READY, {"language": "python", "version": VERSION})
        if not self.channel.frame_waiting():
            session.rehearse(self)
        gc.enable()
        while True:
            frame = self.channel.receive()
            if frame is None:
                os._exit(0)
            kind, body = frame
            if kind == frames.EXECUTE:
                request = json.loads(body)
                self.execute(request["code"], request.get("env"), request.get("chart_data", False))
            elif kind == frames.CONFIGURE:
                settings = json.loads(body)
                environment.configure(settings)
                if settings.get("language", "python") != "python":
                    from . import languages  # a process for one command has not loaded it ahead

                    languages.serve(self, settings)

    def execute(self, code, env=None, chart_data=False):
        """Runs one cell and reports it. Whatever the cell does, an end is reported.

        `env` are variables for this cell alone; with `chart_data`, figures and tables also come as their data.
        """
        interrupts = self.interrupts
        interrupts.begin()
        self.shell.chart_data = chart_data
        lent = environment.Lent() if env else None
        try:
            try:
                self.prepare()
                if lent is not None:
                    lent.set(env)
                interrupts.open()
                error = self.cells.run(code)
                interrupts.close()
            except BaseException as problem:
                interrupts.close()
                self.restore_builtins()
                error = errors.describe(self.shell, type(problem), problem, problem.__traceback__)
        except BaseException as problem:  # a second interrupt, in the few steps above
            interrupts.close()
            error = errors.report(type(problem).__name__, errors.safe_text(problem), [type(problem).__name__])
        if self.channel.forked:
            self.leave_forked_child(error)
        if lent is not None:
            lent.put_back()
        self.finish(error)
        interrupts.idle()

    def prepare(self):
        """Puts back what this kernel needs and a cell may have replaced, closed or deleted."""
        if len(vars(builtins)) < len(self.builtins):
            self.restore_builtins()
        try:
            usable = not (self.stdout.closed or self.stderr.closed)
        except ValueError:  # somebody took the bytes away with detach()
            usable = False
        if not usable:
            self.stdout, self.stderr = streams.make_pair(self.channel)
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr
        sys.stdin = sys.__stdin__ = self.stdin
        sys.displayhook = self.shell.displayhook
        if "_oh" not in self.shell.user_ns:  # a cell has emptied its own namespace
            for name, value in self.session.user_ns.items():
                self.shell.user_ns.setdefault(name, value)
        os.dup2(self.spare[0], 1)
        os.dup2(self.spare[1], 2)
        if sys.getrecursionlimit() < LEAST_RECURSION:
            sys.setrecursionlimit(LEAST_RECURSION)
        self.interrupts.install()

    def restore_builtins(self):
        for name, value in self.builtins.items():
            vars(builtins).setdefault(name, value)

    def finish(self, error):
        """Everything the cell has written goes out first, then the error if there is one, then the end."""
        try:
            self.flush()
        except Exception:
            pass  # a stream that a cell took apart: there is nothing left to send from it
        self.flush_c(None)
        if self.program_started:
            self.program_started = False
            environment.forget_missing_modules()
        channel = self.channel
        if error is not None:
            channel.send(frames.ERROR, frames.to_json(error), hold=True)
        status = b"ok" if error is None else b"error"
        count = self.shell.execution_count - 1
        channel.send(frames.DONE, b'{"execution_count":%d,"status":"%s"}' % (count, status))

    def flush(self):
        """Sends half lines, also those in a stream that a cell has put around or in place of ours."""
        for ours, name in ((self.stdout, "stdout"), (self.stderr, "stderr")):
            if ours.unsent:
                ours.flush()
            current = getattr(sys, name, None)
            if current is not ours:
                try:
                    current.flush()
                except Exception:
                    pass  # closed, or no stream at all

    def send_display(self, data):
        self.send_bundle(frames.DISPLAY, {"data": display.to_bundle(data)}, False)

    def send_result(self, data):
        content = {"data": display.to_bundle(data), "execution_count": self.shell.execution_count - 1}
        self.send_bundle(frames.RESULT, content, self.cells.in_last_expression)

    def send_bundle(self, kind, content, hold):
        self.flush()
        body = frames.to_json(content)
        if len(body) > display.MAX_DISPLAY:
            size = len(body) >> 20
            print(
                f"[output of {size} MiB left out: one value may show at most {display.MAX_DISPLAY >> 20} MiB. "
                "Save it to a file instead.]",
                file=self.stderr,
            )
            return
        self.channel.send(kind, body, hold)

    def on_audit(self, event, args):
        """Sends half lines before another program starts to write, so that what it writes comes after them."""
        if event in STARTS_PROGRAM and self.channel is not None:
            self.program_started = True
            self.flush()

    def after_fork_in_child(self):
        if self.channel is not None:
            self.channel.after_fork_in_child()
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    def leave_forked_child(self, error):
        """A process the cell forked has come to the end of the cell: it ends as a script would."""
        code = 0
        if error is not None:
            code = 1
            if error["name"] == "SystemExit" and error["value"].isdigit():
                code = int(error["value"]) & 0xFF
            else:
                print("\n".join(error["traceback"]), file=self.stderr)
        self.flush()
        self.flush_c(None)
        os._exit(code)


def unbuffer_c_output():
    """C code writes to descriptor 1 at once, so that its output keeps its place; returns C's own flush for the rest."""
    library = ctypes.PyDLL(None)
    library.setvbuf.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t]
    library.setvbuf(ctypes.c_void_p.in_dll(library, "stdout"), None, UNBUFFERED, 0)
    library.fflush.argtypes = [ctypes.c_void_p]
    return library.fflush
