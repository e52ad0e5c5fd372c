"""Gives a kernel the surroundings it was asked for: variables, working folder and where packages are found."""

import importlib
import os
import sys
import time

HOME = "/home/user"
PACKAGES = ".packages"
# A cell may put something else in its place; what programs inherit is behind this one.
VARIABLES = os.environ


def configure(settings):
    """Makes `os.environ` what the engine sent, with the few variables that make tools behave in a sandbox."""
    environment = {str(name): str(value) for name, value in settings.get("env", {}).items()}
    home = environment.setdefault("HOME", HOME)
    packages = os.path.join(home, PACKAGES)
    for name, value in tool_settings(packages).items():
        environment.setdefault(name, value)
    for name in [name for name in os.environ if name not in environment]:
        del os.environ[name]
    os.environ.update(environment)
    if "TZ" in environment:
        time.tzset()
    if packages not in sys.path:
        sys.path.append(packages)
    if settings.get("cwd"):
        change_folder(settings["cwd"])


class Lent:
    """Variables that one cell has and the next has not."""

    def __init__(self):
        self.before = {}

    def set(self, variables):
        for name, value in variables.items():
            self.before[name] = VARIABLES.get(name)
            VARIABLES[name] = value
        self._told_time_zone()

    def put_back(self):
        """To what they were, whatever the cell has made of them since."""
        for name, value in self.before.items():
            try:
                if value is None:
                    VARIABLES.pop(name, None)
                else:
                    VARIABLES[name] = value
            except ValueError:
                pass  # one that could not be set: the cell has ended with that
        self._told_time_zone()

    def _told_time_zone(self):
        if "TZ" in self.before:
            time.tzset()


def tool_settings(packages):
    return {
        "MPLBACKEND": "agg",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        # The runtime itself is read-only: what a sandbox installs goes to its own folder, for programs it starts too.
        "PIP_TARGET": packages,
        "PYTHONPATH": packages,
    }


def change_folder(folder):
    try:
        os.chdir(folder)
    except OSError as problem:
        print(f"The working folder {folder} cannot be used: {problem.strerror}.", file=sys.stderr)


def forget_missing_modules():
    """Python remembers which folders did not exist; after a program ran, it may have installed something there."""
    importlib.invalidate_caches()


def renew_secrets():
    """Replaces what the warm process drew at random before it forked, so that no two kernels share it."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile._name_sequence = None
