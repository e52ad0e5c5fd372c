"""The end of a language's own process."""


class Ended(Exception):
    """`status`: its exit code, or the negative number of the signal that ended it."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status
