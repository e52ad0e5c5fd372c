"""Where the tools of a language are inside a sandbox."""

import os

ROOT = "/opt/runtimes"


def folder(runtime):
    """The folder of a runtime, by its name; the engine has looked that it is there."""
    return os.path.join(os.environ.get("SANDGATE_RUNTIMES", ROOT), runtime)
