"""Lets matplotlib find the list of fonts that was made with the runtime: looking for fonts takes a second or more."""

import os
import sys

FOLDER = os.path.join(sys.prefix, "share", "matplotlib-cache")


def add_steps(steps):
    steps.add("matplotlib.font_manager", before=use_built_list, after=restore_folder)


def use_built_list():
    """For the moment of its import, the font manager looks for its list where the runtime has it."""
    if os.path.isdir(FOLDER):
        matplotlib = sys.modules["matplotlib"]
        matplotlib.usual_get_cachedir = matplotlib.get_cachedir
        matplotlib.get_cachedir = lambda: FOLDER


def restore_folder(module):
    matplotlib = sys.modules["matplotlib"]
    usual = vars(matplotlib).pop("usual_get_cachedir", None)
    if usual is not None:
        matplotlib.get_cachedir = usual


def forget_loaded(module):
    """Matplotlib drops loaded fonts in every fork; dropping them once, before, leaves forks nothing to do."""
    loaded = getattr(module, "_get_font", None)
    if hasattr(loaded, "cache_clear"):
        loaded.cache_clear()
