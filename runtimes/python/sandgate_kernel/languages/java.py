"""Java by JShell: declarations and statements one after the other, in one virtual machine."""

import base64

from . import tools
from .child import Child

# One small heap and few threads: a context is one user, and starts sooner so.
OPTIONS = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8"]


class Java(Child):
    def __init__(self, reporter):
        folder = tools.folder("java")
        super().__init__(reporter, [f"{folder}/bin/java", *OPTIONS, "-cp", f"{folder}/driver", "JShellDriver"])

    def request(self, code, env):
        """Words in base64, because Java's library has no JSON: the code, then name and value of each variable."""
        words = [code, *(word for pair in env.items() for word in pair)]
        return b" ".join(base64.b64encode(word.encode("utf-8", "replace")) or b"=" for word in words)
