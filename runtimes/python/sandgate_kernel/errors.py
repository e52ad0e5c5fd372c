"""Turns an exception into the error a person or a model reads: name, value and IPython's traceback as lines."""

import inspect
import os
import traceback
import types

from .frames import to_json

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
SHELL_FILES = ("/IPython/core/interactiveshell.py", "/IPython/core/async_helpers.py")
# In bytes, as it is sent. Programs hand whole answers back as the text of an exception; a frame holds twice as much.
MAX_VALUE = 8 << 20
# Of one character, when it is written as an escape.
MAX_CHARACTER = 6
MAX_TRACEBACK = 512 << 10
# Drawing one frame costs about a millisecond, and nobody reads a thousand of them.
MAX_FRAMES = 40


def describe(shell, kind, value, stack, short=False):
    """The error frame for an exception. Never raises: an exception that cannot be shown is still reported."""
    name = getattr(kind, "__name__", str(kind))
    text = safe_text(value)
    if kind is SystemExit:
        text, short = ("0" if value.code is None else text), True
    if kind is KeyboardInterrupt and not _in_a_cell(stack):
        short = True  # It met the shell at work beside the cell: its frames tell nobody anything, and take long to draw.
    try:
        lines = [f"{name}: {text}" if text else name] if short else _traceback(shell, kind, value, stack)
    except Exception:
        lines = _plain_traceback(kind, value, stack)
    return report(name, text, lines)


def report(name, text, lines):
    """An error frame of bounded size: a message may be as long as the data it quotes."""
    whole = "\n".join(map(str, lines))
    if len(whole) > MAX_TRACEBACK:
        half = MAX_TRACEBACK // 2
        whole = f"{whole[:half]}\n[... {len(whole) - 2 * half} characters left out ...]\n{whole[-half:]}"
    kept = MAX_VALUE // MAX_CHARACTER
    if len(text) > kept and len(to_json(text)) > MAX_VALUE:
        text = f"{text[:kept]}[... {len(text) - kept} characters left out]"
    return {"name": name, "value": text, "traceback": whole.split("\n")}


def safe_text(value):
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__} whose text cannot be made: its __str__ raised an exception>"


def syntax_lines(shell, kind, value, stack, running):
    """A SyntaxError has no stack of its own, unless running code imported or compiled the broken source."""
    frames = traceback.extract_tb(stack) if running else []
    return shell.SyntaxTB.structured_traceback(kind, value, frames)


def _traceback(shell, kind, value, stack):
    if hasattr(value, "_render_traceback_"):
        return value._render_traceback_()
    left_out = _tidy_chain(value)
    stack = value.__traceback__
    if isinstance(value, SyntaxError):
        return syntax_lines(shell, kind, value, stack, _has_frames_beyond_cell(stack))
    if _holds_group(value):
        # IPython's formatter does not know exception groups; Python's own does.
        return "".join(traceback.format_exception(kind, value, stack)).rstrip("\n").split("\n")
    lines = shell.InteractiveTB.structured_traceback(kind, value, stack, tb_offset=0)
    if left_out:
        lines.insert(-1, f"[... {left_out} frames in the middle of the stack left out]")
    return lines


def _plain_traceback(kind, value, stack):
    try:
        _tidy_chain(value)
        text = "".join(traceback.format_exception(kind, value, value.__traceback__))
    except Exception:
        text = f"{getattr(kind, '__name__', kind)}: {safe_text(value)}"
    return text.rstrip("\n").split("\n")


def _tidy_chain(value):
    """Removes the kernel's own frames from an exception and all it was raised from; returns how many were too many."""
    left_out, seen = 0, set()
    while value is not None and id(value) not in seen:
        seen.add(id(value))
        value.__traceback__, extra = _tidy_stack(value.__traceback__)
        left_out += extra
        for inner in getattr(value, "exceptions", ()) if isinstance(value, BaseExceptionGroup) else ():
            left_out += _tidy_chain(inner)
        value = value.__cause__ or value.__context__
    return left_out


def _tidy_stack(stack):
    frames, at_start = [], True
    while stack is not None:
        name = stack.tb_frame.f_code.co_filename
        hidden = name.startswith(OWN_FOLDER) or (at_start and name.endswith(SHELL_FILES))
        if not hidden:
            at_start = False
            frames.append(stack)
            if name.startswith("<ipython-input-"):
                _remember_module(name)
        stack = stack.tb_next
    extra = len(frames) - MAX_FRAMES
    if extra > 0:
        half = MAX_FRAMES // 2
        frames[half:-half] = []
    chain = None
    for part in reversed(frames):
        chain = types.TracebackType(chain, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return chain, max(extra, 0)


def _remember_module(name):
    """Tells `inspect` where a cell belongs; it would look through every loaded module for each frame otherwise."""
    try:
        inspect.modulesbyfile[os.path.abspath(name)] = "__main__"
    except OSError:
        pass  # The working folder is gone; the slow way works without it.


def _has_frames_beyond_cell(stack):
    return stack is not None and not (stack.tb_next is None and "IPython" in stack.tb_frame.f_code.co_filename)


def _in_a_cell(stack):
    while stack is not None:
        if stack.tb_frame.f_code.co_filename.startswith("<ipython-input-"):
            return True
        stack = stack.tb_next
    return False


def _holds_group(value):
    seen = set()
    while value is not None and id(value) not in seen:
        if isinstance(value, BaseExceptionGroup):
            return True
        seen.add(id(value))
        value = value.__cause__ or value.__context__
    return False
