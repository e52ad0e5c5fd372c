"""Gives a kernel the surroundings it was asked for: variables, working folder and where packages are found."""

import importlib
import os
import sys
import time

HOME = "/home/user"
PACKAGES = ".packages"


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
