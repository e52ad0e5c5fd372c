"""R: expressions one after the other in one interpreter, plots as pictures."""

import base64
import os

from .child import Child

OPTIONS = ["--no-echo", "--no-restore", "--no-save", "--no-init-file", "--no-site-file"]
MOST_PICTURE = 8 << 20


class R(Child):
    def __init__(self, reporter):
        folder = reporter.tools
        super().__init__(reporter, [f"{folder}/bin/R", *OPTIONS, f"--file={folder}/driver/driver.R"])

    def request(self, code, env):
        """The lengths of the words in a line, then the words, because R's own library has neither JSON nor base64."""
        words = [code, *(word for pair in env.items() for word in pair)]
        encoded = [word.replace("\0", "").encode("utf-8", "replace") for word in words]
        return " ".join(str(len(word)) for word in encoded).encode() + b"\n" + b"".join(encoded)

    def send(self, line):
        """Without an end of line: the last word has its length."""
        self.write(line)

    def other(self, message):
        """A plot, which the driver has left in a file."""
        if message.get("op") != "picture":
            return
        path = message["path"]
        with open(path, "rb") as file:
            picture = file.read(MOST_PICTURE + 1)
        os.unlink(path)
        if len(picture) > MOST_PICTURE:
            self.reporter.stderr(f"[a plot of more than {MOST_PICTURE >> 20} MiB is left out]\n")
            return
        self.reporter.display({"image/png": base64.b64encode(picture).decode(), "text/plain": "<plot>"})
