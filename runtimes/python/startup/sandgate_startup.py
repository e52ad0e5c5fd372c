"""Runs before every program of the runtime's Python in a sandbox: `sandgate.pth` beside it says so. On the host, where
there is nothing to look for, it is not even read: bytecode of it would hold the host's path.

The runtime is read-only. What a sandbox installs is in a folder of its home, found before the packages of the runtime,
and is the environment that pip works on. By variables alone none of this could be had: pip cannot be told a place that
a virtual environment, or an option of its own, does not fall out with.
"""

import os
import site
import sys

PACKAGES = ".packages"


def begin():
    if sys.flags.no_user_site:
        return  # asked for, as pip does of what it builds packages with; the kernels see to it themselves
    home = os.environ.get("HOME") or "/home/user"
    prefix = os.path.join(home, PACKAGES)
    packages = os.path.join(prefix, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    try:
        # Python never looks again into a folder that was not there: a program may install something and import it.
        os.makedirs(packages, exist_ok=True)
    except OSError:
        return
    beside = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(sys.path.index(beside) if beside in sys.path else len(sys.path), packages)
    site.addsitedir(packages)
    if is_pip(sys.orig_argv[1:]):
        lead_pip_to(prefix)


def lead_pip_to(prefix):
    sys.prefix = sys.exec_prefix = prefix
    if "--user" in sys.argv:
        sys.argv.remove("--user")  # it is what happens anyway, and pip would refuse
    try:
        # pip looks for it in every environment, and warns where there is none.
        with open(os.path.join(prefix, "pyvenv.cfg"), "x", encoding="utf-8") as settings:
            settings.write("include-system-site-packages = false\n")
    except OSError:
        pass


def is_pip(words):
    while words and words[0].startswith("-") and words[0] != "-m":
        words = words[1:]
    if words[:1] == ["-m"]:
        return words[1:2] == ["pip"]
    return bool(words) and os.path.basename(words[0]) in ("pip", "pip3", "pip%d.%d" % sys.version_info[:2])


begin()
