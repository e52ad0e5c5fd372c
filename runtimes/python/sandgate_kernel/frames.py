"""The socket to the engine: reads and writes whole frames, and keeps the output of child processes in order."""

import json
import os
import select
import struct
import threading

CONFIGURE, EXECUTE = 0x01, 0x02
READY, STDOUT, STDERR, DISPLAY, RESULT, ERROR, DONE = range(0x80, 0x87)

HEADER = struct.Struct("<IB")
LENGTH = struct.Struct("<I")
MAX_FRAME = 64 << 20
MAX_CHUNK = 1 << 20
READ_SIZE = 1 << 16

# Not ASCII-only: the engine reads UTF-8, and escapes would double the size of most text that is not English.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json(value):
    """JSON as bytes. A lone surrogate has no UTF-8 form and would make the whole frame unreadable: it becomes '?'."""
    return _encode(value).encode("utf-8", "replace")


class Channel:
    """One end of the control socket, with the read ends of the pipes behind descriptors 1 and 2."""

    def __init__(self, control, out, err, interrupts):
        self.control = control
        self.interrupts = interrupts
        self.pipes = {out: STDOUT, err: STDERR}
        self.poller = select.poll()
        for pipe in self.pipes:
            os.set_blocking(pipe, False)
            self.poller.register(pipe, select.POLLIN)
        self.lock = threading.Lock()
        self.owner = None
        self.late = []
        self.held = b""
        self.received = b""
        self.muted = False
        self.forked = False

    def send(self, kind, body, hold=False):
        """Sends one frame, after whatever child processes have left in the pipes."""
        self.send_bytes(HEADER.pack(len(body) + 1, kind) + body, hold)

    def send_json(self, kind, value):
        self.send(kind, to_json(value))

    def send_stream(self, kind, data):
        """Sends text of any length, cut into frames the engine can take one by one."""
        size = len(data)
        if size <= MAX_CHUNK:
            self.send_bytes(HEADER.pack(size + 1, kind) + data)
            return
        view = memoryview(data)
        for start in range(0, size, MAX_CHUNK):
            part = view[start : start + MAX_CHUNK]
            self.send_bytes(HEADER.pack(len(part) + 1, kind) + part)

    def send_bytes(self, frame, hold=False):
        """The only place that writes to the socket. Frames are never mixed, whatever interrupts this call.

        With `hold` the frame leaves together with the next one: the result and the end of a cell need one write.
        """
        if self.forked:
            return
        thread = threading.get_ident()
        if self.owner == thread:
            # A signal handler or a finalizer printed while this thread was sending: its turn comes next.
            self.late.append(frame)
            return
        shielded = thread == self.interrupts.main_thread
        if shielded:
            self.interrupts.shields += 1
        try:
            with self.lock:
                self.owner = thread
                try:
                    data = self.held + self._pipe_frames() + frame
                    self.held = data if hold else b""
                    if not hold:
                        self._write(data)
                    while self.late:
                        self._write(self.late.pop(0))
                finally:
                    self.owner = None
        finally:
            if shielded:
                self.interrupts.shields -= 1
        if shielded and self.interrupts.pending:
            self.interrupts.raise_pending()

    def _write(self, data):
        if self.muted or not data:
            return
        try:
            sent = os.write(self.control, data)
            if sent < len(data):
                view = memoryview(data)
                while sent < len(data):
                    sent += os.write(self.control, view[sent:])
        except (BrokenPipeError, ConnectionResetError):
            os._exit(0)  # The engine is gone, so nobody is left to run for.

    def drain(self):
        """Passes on what child processes and C code have written to descriptors 1 and 2."""
        self.send_bytes(b"")

    def _pipe_frames(self):
        ready = self.poller.poll(0)
        if not ready:
            return b""
        frames = []
        for pipe, _ in ready:
            # Bounded, so that a child that writes for ever cannot keep the kernel here.
            for _ in range(MAX_CHUNK // READ_SIZE):
                try:
                    data = os.read(pipe, READ_SIZE)
                except OSError:
                    break
                if data:
                    frames.append(HEADER.pack(len(data) + 1, self.pipes[pipe]) + data)
                if len(data) < READ_SIZE:
                    break
        return b"".join(frames)

    def receive(self):
        """Waits for one frame and returns its kind and body; None when the engine has hung up."""
        received = self._fill(self.received, LENGTH.size)
        if received is None:
            return None
        (length,) = LENGTH.unpack_from(received)
        if not 1 <= length <= MAX_FRAME:
            return None
        end = LENGTH.size + length
        received = self._fill(received, end)
        if received is None:
            return None
        self.received = received[end:]
        return received[LENGTH.size], received[LENGTH.size + 1 : end]

    def _fill(self, received, wanted):
        if len(received) >= wanted:
            return received
        parts, size = [received], len(received)
        while size < wanted:
            try:
                part = os.read(self.control, READ_SIZE)
            except OSError:
                return None
            if not part:
                return None
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def frame_waiting(self):
        """Whether the engine has already sent something, without waiting for it."""
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        return bool(self.received or poller.poll(0))

    def after_fork_in_child(self):
        """A process that user code forked has no voice on the socket and must not keep it open."""
        if self.forked:
            return  # a child of such a process, where these numbers may be descriptors of the code by now
        self.forked = True
        for descriptor in (self.control, *self.pipes):
            try:
                os.close(descriptor)
            except OSError:
                pass
