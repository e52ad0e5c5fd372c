"""Starts a program with certain descriptors; all others of this process close as it starts."""

import os
import subprocess

FAR = 100


def spawn(arguments, descriptors, **options):
    """`descriptors`: number inside to descriptor here; the standard ones are as `options` say."""

    def place():
        # First to numbers that none of the targets has: a source may itself be in the way of another.
        moved = {target: os.dup2(source, FAR + target, inheritable=False) for target, source in descriptors.items()}
        for target, source in moved.items():
            os.dup2(source, target)

    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(arguments, close_fds=False, preexec_fn=place, **options)
