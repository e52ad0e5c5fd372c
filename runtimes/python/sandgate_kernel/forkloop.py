"""Calls the native library that forks and confines kernels. No Python runs in this process between two forks."""

import ctypes
import sys

LIBRARY = "/opt/sandgate/libsandgate_forkloop.so"
# numpy's legacy generator (MT19937): 624 words of state, then the position within them, where 624 means "used up".
STATE_WORDS = 624


class ForkLoop:
    def __init__(self, path=LIBRARY):
        library = ctypes.PyDLL(path)
        self._serve = library.sandgate_serve
        self._serve.restype = ctypes.c_int
        self._serve.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_int)]
        self._reseed = library.sandgate_reseed
        self._reseed.restype = None
        self._reseed.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int]
        self._descriptors = (ctypes.c_int * 3)()
        self._hand_over_numpy_state()

    def _hand_over_numpy_state(self):
        """Lets each fork refill the state behind `numpy.random.rand()`, which all kernels would share otherwise."""
        random = sys.modules.get("numpy.random.mtrand")
        if random is None:
            return
        address = random._rand._bit_generator.ctypes.state_address
        length = STATE_WORDS * ctypes.sizeof(ctypes.c_uint32)
        self._reseed(address, length, address + length, STATE_WORDS)

    def serve(self, control):
        """Returns in every forked kernel its socket and pipe descriptors; None in this process when it may end."""
        if self._serve(control, self._descriptors) < 0:
            return None
        return tuple(self._descriptors)
