"""Arranges the warm process's memory so that a forked kernel copies as few pages as it can."""

import functools
import gc
import itertools
import operator

# CPython keeps small objects of one size together in pools of this many bytes, in steps of 16 bytes up to 512.
POOL = 16 << 10
STEP, LARGEST = 16, 512
BYTES_HEADER = 33  # what a bytes object needs besides its content

# Some 150 MiB of objects; only a Python that keeps its objects in some other way comes near it.
MOST_BATCHES = 5_000

_filling = []


def fill_gaps():
    """Takes every free place inside used pools, so that what is made from here on lies together on fresh pages.

    Without this, each new object lands on some page that is shared with the warm process, and the first write to it
    copies the whole page. The filling is never freed: it costs a little memory once, in the warm process.
    """
    _fill_with(object, STEP)
    numbers = itertools.count(1.5)
    _fill_with(functools.partial(next, numbers), STEP * 2)
    for size in range(STEP * 3, LARGEST + 1, STEP):
        almost = bytes(size - BYTES_HEADER - 1)
        _fill_with(functools.partial(operator.add, almost, b"x"), size)


def _fill_with(make, size):
    """Makes objects of one size, two pools' worth at a time, until they lie side by side: no older place was left."""
    count = 2 * POOL // size
    together = False
    while not together:
        batch = [make() for _ in range(count)]
        _filling.append(batch)
        # No list of the addresses: they are numbers, and would take the very places that numbers leave.
        together = max(map(id, batch)) - min(map(id, batch)) < 8 * POOL
        if len(_filling) > MOST_BATCHES:
            break


def settle():
    """Last step before forking: what is garbage goes, and the collector never looks at the rest again."""
    gc.collect()
    fill_gaps()
    gc.freeze()
