"""What `sys.stdout`, `sys.stderr` and `sys.stdin` are inside a kernel."""

import io
import os

from . import frames

NOBODY_TYPES = (
    "nobody can type an answer here: this code runs without a keyboard. "
    "Put the value into the code, or read it from a file or an environment variable."
)


class StdinNotAvailable(EOFError):
    """Raised where a program would wait for somebody to type. An EOFError, because many programs expect that one."""

    __module__ = "builtins"


class FrameWriter(io.RawIOBase):
    """The bytes under a text stream: each write is a frame at once, so nothing waits here."""

    mode = "wb"

    def __init__(self, channel, kind, descriptor, name):
        self.channel = channel
        self.kind = kind
        self.descriptor = descriptor
        self.name = name

    def write(self, data):
        data = bytes(data)
        if data:
            if self.channel.forked:
                write_all(self.descriptor, data)
            else:
                self.channel.send_stream(self.kind, data)
        return len(data)

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def isatty(self):
        return False

    def close(self):
        """Stays open: a wrapper that a program put around this object closes it when it is collected."""


class KernelText(io.TextIOWrapper):
    """A text stream that sends whole lines: one print is one frame, even when the text has line breaks inside."""

    other = None
    unsent = False

    def write(self, text):
        other = self.other
        if other is not None and other.unsent:
            other.flush()
        count = super().write(text)
        if text[-1:] == "\n":
            self.flush()
        else:
            self.unsent = True
        return count

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        self.unsent = False
        super().flush()

    def close(self):
        """Sends what is left and stays open: the next cell prints to it again."""
        self.flush()


class NoStdin(io.TextIOBase):
    """A standard input that says clearly that there is none, instead of waiting for ever."""

    encoding = "utf-8"
    errors = "strict"
    name = "<stdin>"
    mode = "r"

    def read(self, size=-1):
        raise StdinNotAvailable(NOBODY_TYPES)

    readline = readlines = __next__ = read

    @property
    def buffer(self):
        return self

    def readable(self):
        return True

    def fileno(self):
        return 0

    def isatty(self):
        return False

    def close(self):
        """Nothing to close."""


def make_pair(channel):
    """Standard output and error that know each other, so that each sends the other's half line first."""
    pair = []
    for kind, descriptor, name in ((frames.STDOUT, 1, "<stdout>"), (frames.STDERR, 2, "<stderr>")):
        writer = FrameWriter(channel, kind, descriptor, name)
        stream = KernelText(writer, encoding="utf-8", errors="backslashreplace", newline="\n")
        stream.mode = "w"
        pair.append(stream)
    pair[0].other, pair[1].other = pair[1], pair[0]
    return pair


def refuse_password(prompt="Password: ", stream=None):
    """Stands in for `getpass.getpass`, which would look for a terminal and warn before it gives up."""
    raise StdinNotAvailable(NOBODY_TYPES)


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]
