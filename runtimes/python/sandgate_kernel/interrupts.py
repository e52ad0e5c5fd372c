"""Decides what an interrupt (SIGINT) does: stop the cell, wait until a frame is sent, or nothing while idle."""

import _signal  # the C module: signal.signal() adds enum conversions that cost more than the call itself
import threading

IDLE, SHIELDED, OPEN = range(3)


class Interrupts:
    """The state that the handler looks at. Only the main thread ever runs the handler, so no lock is needed."""

    def __init__(self):
        self.state = IDLE
        self.shields = 0
        self.pending = False
        self.main_thread = threading.get_ident()

    def install(self):
        """Takes the signal over again: a cell may have set its own handler, and that ends with the cell."""
        _signal.signal(_signal.SIGINT, self.on_signal)
        # The engine sends this one after an interrupt: it ends the system call that a cell may have entered between
        # the interrupt and Python's next look at it, and so gives Python that look.
        _signal.signal(_signal.SIGURG, on_nudge)

    def on_signal(self, number, frame):
        if self.state == IDLE:
            return
        if self.state == SHIELDED or self.shields:
            self.pending = True
            return
        raise KeyboardInterrupt

    def begin(self):
        """A cell has come in: from here on an interrupt is meant for it."""
        self.pending = False
        self.shields = 0
        self.state = SHIELDED

    def open(self):
        """User code runs: interrupts now raise KeyboardInterrupt, also one that came a moment too early."""
        self.state = OPEN
        self.raise_pending()

    def close(self):
        """User code has ended: what comes from here on must not break the frames that report it."""
        self.state = SHIELDED

    def idle(self):
        self.state = IDLE
        self.pending = False

    def raise_pending(self):
        if self.pending and not self.shields and self.state == OPEN:
            self.pending = False
            raise KeyboardInterrupt


def on_nudge(number, frame):
    """Nothing to do: that the signal came is all."""
