"""Brings a shell back to how it was before any cell ran, after the rehearsals that warm a kernel up."""

import linecache
import os
import sys

from . import environment

# Small cells that touch the memory nearly every cell touches, so that the first real one finds it in place.
REHEARSAL = ("rehearsal = 1 + 1\nprint(rehearsal)\nrehearsal\n", "print('rehearsal')", "rehearsal = 2\nrehearsal")


class Session:
    """A picture of a shell that has run nothing."""

    def __init__(self, shell):
        self.user_ns = dict(shell.user_ns)
        self.hidden = dict(shell.user_ns_hidden)

    def reset(self, shell):
        for now, before in ((shell.user_ns, self.user_ns), (shell.user_ns_hidden, self.hidden)):
            for name in [name for name in now if name not in before]:
                del now[name]
            now.update(before)
        history = shell.history_manager
        history.input_hist_parsed[:] = [""]
        history.input_hist_raw[:] = [""]
        for store in (
            history.output_hist,
            history.output_hist_reprs,
            history.outputs,
            history.exceptions,
            history.db_input_cache,
            shell.compile._filename_map,
        ):
            store.clear()
        history._i00 = history._i = history._ii = history._iii = ""
        hook = shell.displayhook
        hook._ = hook.__ = hook.___ = ""
        shell.execution_count = 1
        shell.last_execution_succeeded = True
        shell.last_execution_result = None
        shell.shown_error = None
        for name in [name for name in linecache.cache if name.startswith("<ipython-input-")]:
            del linecache.cache[name]
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            vars(sys).pop(name, None)


def rehearse(kernel):
    """Runs small cells whose frames go nowhere, right after a fork: later, a real cell pays less for its memory."""
    kernel.channel.muted = True
    folders = list(sys.path)
    try:
        environment.configure({"env": dict(os.environ), "cwd": os.getcwd()})
        for code in REHEARSAL:
            kernel.execute(code)
    finally:
        kernel.channel.muted = False
        sys.path[:] = folders
        kernel.session.reset(kernel.shell)
