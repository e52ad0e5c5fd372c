"""IPython's shell as this kernel uses it: no files, no terminal, everything shown goes out as frames."""

import os
import subprocess
import sys
from contextlib import nullcontext

from IPython.core.autocall import ExitAutocall
from IPython.core.error import UsageError
from IPython.core.events import EventManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.utils.text import LSString, SList
from traitlets import Type
from traitlets.config import Config

from . import errors
from .display import KernelDisplayFormatter
from .figures import Figures
from .inline_settings import InlineBackend
from .publishing import KernelDisplayHook, KernelDisplayPublisher


class KernelEvents(EventManager):
    """Runs callbacks. One that fails is reported beside the cell; an interrupt stops the cell as anywhere else."""

    def trigger(self, event, *args, **kwargs):
        for callback in self.callbacks[event][:]:
            try:
                callback(*args, **kwargs)
            except Exception:
                print(f"Error in callback {callback} (for {event}):", file=sys.stderr)
                self.shell.side_errors += 1
                self.shell.showtraceback()
                self.shell.side_errors -= 1


class QuietProfileDir(ProfileDir):
    """A profile folder that is a name only: nothing is made on disk until somebody stores something."""

    def _location_changed(self, change):
        pass


class Exit(ExitAutocall):
    """`exit` and `quit`: end the cell, not the kernel."""

    def __call__(self, code=None):
        raise SystemExit(code)


class KernelShell(InteractiveShell):
    displayhook_class = Type(KernelDisplayHook)
    display_pub_class = Type(KernelDisplayPublisher)

    # Set by the kernel: where frames go.
    publish_display = publish_result = staticmethod(lambda data: None)
    # More than zero while an exception belongs to something beside the cell, such as a failing `_repr_html_`.
    side_errors = 0
    # Whether figures and tables come with their data, and saved pictures are shown, in the running cell.
    chart_data = False
    # The error the running cell has shown, and whether it came from a script or an inner cell that failed.
    shown_error = None
    inner_failure = False
    run_depth = 0

    def _ipython_dir_changed(self, change):
        """IPython would make the folder."""

    def init_profile_dir(self, profile_dir):
        self.profile_dir = QuietProfileDir(location=os.path.join(self.ipython_dir, "profile_default"))

    def init_display_formatter(self):
        self.display_formatter = KernelDisplayFormatter(parent=self)
        self.configurables.append(self.display_formatter)
        self.figures = Figures(self)

    def init_events(self):
        super().init_events()
        self.events.__class__ = KernelEvents

    def init_user_ns(self):
        super().init_user_ns()
        leave = Exit(self)
        for namespace in (self.user_ns, self.user_ns_hidden):
            namespace.update(exit=leave, quit=leave)

    def _tee(self, channel):
        return nullcontext()  # IPython would copy all output into the history.

    def show_value(self, value):
        data, _ = self.display_formatter.format(value)
        if data:
            self.display_pub.publish(data)

    # Errors.

    def showtraceback(
        self, exc_tuple=None, filename=None, tb_offset=None, exception_only=False, running_compiled_code=False
    ):
        old_error = exc_tuple is None and sys.exc_info()[0] is None  # `%tb` shows one again that is over
        try:
            kind, value, stack = self._get_exc_info(exc_tuple)
        except ValueError:
            print("No traceback available to show.", file=sys.stderr)
            return
        if issubclass(kind, UsageError):
            self.take_error(errors.report("UsageError", str(value), [f"UsageError: {value}"]), old_error)
        else:
            self.take_error(errors.describe(self, kind, value, stack, short=exception_only), old_error)

    def showsyntaxerror(self, filename=None, running_compiled_code=False):
        kind, value, stack = self._get_exc_info()
        lines = errors.syntax_lines(self, kind, value, stack, running_compiled_code)
        self.take_error(errors.report(kind.__name__, errors.safe_text(value), lines), False)

    def _showtraceback(self, etype, evalue, stb):
        self.take_error(errors.report(etype.__name__, errors.safe_text(evalue), stb), False)

    def take_error(self, error, old_error):
        """Keeps an error for the cell's error frame, or prints it when it is not the cell's own."""
        if old_error or self.side_errors:
            print("\n".join(error["traceback"]), file=sys.stderr)
            return
        if self.shown_error is not None:
            print("\n".join(self.shown_error["traceback"]), file=sys.stderr)
        self.shown_error = error

    def _format_exception_for_storage(self, exception, *args, **kwargs):
        error = self.shown_error or errors.report(type(exception).__name__, errors.safe_text(exception), [])
        return {"ename": error["name"], "evalue": error["value"], "traceback": error["traceback"]}

    def run_cell(self, *args, **kwargs):
        self.run_depth += 1
        try:
            result = super().run_cell(*args, **kwargs)
        finally:
            self.run_depth -= 1
        if self.run_depth and result is not None and not result.success:
            self.inner_failure = True
        return result

    def safe_execfile(self, *args, **kwargs):
        before = self.shown_error
        super().safe_execfile(*args, **kwargs)
        if self.shown_error is not before:
            self.inner_failure = True

    # Programs.

    def system(self, cmd):
        """`!command`: the program writes to descriptors 1 and 2 itself, so its output streams while it runs."""
        command = self.var_expand(cmd, depth=1)
        code = subprocess.call(command, shell=True, executable=os.environ.get("SHELL"))
        self.user_ns["_exit_code"] = code if code <= 128 else 128 - code
        if self.system_raise_on_error and code:
            raise subprocess.CalledProcessError(code, cmd)

    system_raw = system_piped = system

    def getoutput(self, cmd, split=True, depth=0):
        """`lines = !command`, through a pipe: a sandbox need not have terminals to lend."""
        command = self.var_expand(cmd, depth=depth + 1)
        run = subprocess.run(
            command, shell=True, executable=os.environ.get("SHELL"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.user_ns["_exit_code"] = run.returncode
        if self.system_raise_on_error and run.returncode:
            raise subprocess.CalledProcessError(run.returncode, cmd)
        text = run.stdout.decode("utf-8", "replace")
        return SList(text.splitlines()) if split else LSString(text)

    def enable_gui(self, gui=None):
        """There is no window to run."""

    def enable_matplotlib(self, gui=None):
        """`%matplotlib inline` and its relatives: figures are shown in any case."""
        import matplotlib.pyplot  # noqa: F401  its import hook does the rest

        return None, "agg"


def print_page(shell, data, start=0, screen_lines=0):
    """What `?name` and `%psource` would put into a pager goes to standard output."""
    print(data["text/plain"] if isinstance(data, dict) else data)


def make_shell():
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.ast_node_interactivity = "last_expr"
    config.InteractiveShell.enable_tip = False
    config.PlainTextFormatter.max_seq_length = 0
    shell = KernelShell.instance(config=config, ipython_dir=os.path.expanduser("~/.ipython"))
    shell.set_hook("show_in_pager", print_page, 0)
    shell.builtin_trap.__enter__()  # for good: between cells, threads may want `get_ipython` too
    shell.figures.attach()
    shell.configurables.append(InlineBackend(parent=shell))
    return shell
