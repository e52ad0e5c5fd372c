"""Gives a kernel the surroundings it was asked for: variables, working folder and where packages are found."""

import importlib
import os
import site
import sys
import time

HOME = "/home/user"
# Where pip installs: see startup/sandgate_startup.py, which finds them for programs.
PACKAGES = ".packages/lib/python%d.%d/site-packages" % sys.version_info[:2]
# A cell may put something else in its place; what programs inherit is behind this one.
VARIABLES = os.environ


def configure(settings):
    """Makes `os.environ` what the engine sent."""
    environment = {str(name): str(value) for name, value in settings.get("env", {}).items()}
    packages = os.path.join(environment.setdefault("HOME", HOME), PACKAGES)
    for name in [name for name in os.environ if name not in environment]:
        del os.environ[name]
    os.environ.update(environment)
    if "TZ" in environment:
        time.tzset()
    if packages not in sys.path:
        # Last: another version of what the kernel itself is made of would not fit the rest of it.
        sys.path.append(packages)
        if os.path.isdir(packages):
            site.addsitedir(packages)
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
