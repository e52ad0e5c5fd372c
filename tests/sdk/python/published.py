"""The examples that an SDK brings in the description of its own package, to be run as they stand there.

Nothing of them is kept here: the tests run whatever the installed release says.
"""

import ast
import contextlib
import importlib.metadata
import inspect
import io
import os
import re
import subprocess
import sys

HEADING = re.compile(r"^#{2,4}\s+(.*)$")
BEGIN = re.compile(r"^```(?:python|py)\s*$")


def examples(package):
    """Code by the heading it stands under; a second one of the same heading has a 2 behind it."""
    found, heading, code = {}, "", None
    for line in importlib.metadata.metadata(package).get_payload().splitlines():
        if code is not None and line.startswith("```"):
            number = 2
            name = heading
            while name in found:
                name, number = f"{heading} {number}", number + 1
            found[name], code = "\n".join(code) + "\n", None
        elif code is not None:
            code.append(line)
        elif BEGIN.match(line):
            code = []
        elif seen := HEADING.match(line):
            heading = seen.group(1).strip()
    return found


def moved(code, domain, key):
    """The same with another server and key, where it names them."""
    code = re.sub(r'\bdomain="[^"]*"', f'domain="{domain}"', code)
    return re.sub(r'\bapi_key="[^"]*"', f'api_key="{key}"', code)


def is_program(code):
    """Whether it runs by itself; otherwise it is a part of one and waits at the top."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(code, "example", "exec", flags)
    return not code.co_flags & inspect.CO_COROUTINE


def run_program(code, prefix):
    """As a user would start it in a shell; only variables that begin with `prefix` are set for it."""
    wanted = ("PATH", "HOME", "LANG")
    env = {name: value for name, value in os.environ.items() if name in wanted or name.startswith(prefix)}
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


async def run_part(code, names):
    """What it printed; what it made is in `names` afterwards."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        waiting = eval(compile(code, "example", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if inspect.isawaitable(waiting):
            await waiting
    return said.getvalue()
