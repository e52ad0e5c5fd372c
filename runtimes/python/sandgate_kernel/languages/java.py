"""Java by JShell: declarations and statements one after the other, in one virtual machine."""

import base64
import os
import re

from .child import Child

# Few threads and a simple collector: a context is one user, and starts sooner so. The machine's processors and memory
# are not this sandbox's.
OPTIONS = [
    "-Xshare:auto",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=2",
    "-XX:-UsePerfData",
    "-Dfile.encoding=UTF-8",
]
# The archive of classes knows the driver by this path, which leads to its folder wherever that is.
DRIVER = 9
# Of the sandbox's memory: beside the heap there are classes, compiled code and threads.
HEAP_SHARE = 0.6
# Where a compiler's error says it is, without the name that was taken out of it.
NOWHERE = re.compile(r"\s*location:\s+class\s*$")


class Java(Child):
    def __init__(self, reporter):
        folder = reporter.tools
        heap = [f"-Xmx{int(reporter.memory * HEAP_SHARE) >> 20}m"] if reporter.memory else []
        archive = [f"-XX:SharedArchiveFile={folder}/driver/classes.jsa"]
        program = ["-cp", f"/proc/self/fd/{DRIVER}/driver.jar", "JShellDriver"]
        super().__init__(reporter, [f"{folder}/bin/java", *archive, *OPTIONS, *heap, *program])
        self.lent = {DRIVER: os.open(f"{folder}/driver", os.O_RDONLY | os.O_DIRECTORY)}

    def shown(self, lines):
        """Names of the classes that JShell wraps cells in are none of the author's; its own prompt leaves them out."""
        return [line for line in lines if not NOWHERE.match(line)]

    def request(self, code, env):
        """Words in base64, because Java's library has no JSON: the code, then name and value of each variable."""
        words = [code, *(word for pair in env.items() for word in pair)]
        return b" ".join(base64.b64encode(word.encode("utf-8", "replace")) or b"=" for word in words)
