"""Starts the warm Python process: `__main__.py <control descriptor> <full|lean|bare>`. It loads, then forks on request.
"""

import os
import sys

# Started with -I, Python looks for modules in the standard library and the runtime only.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

ENVIRONMENT = {
    "HOME": "/home/user",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    # Threads do not survive a fork, and a kernel that may use one core gains nothing from them.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PATH": "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin",
}


def main():
    control, mode = int(sys.argv[1]), sys.argv[2]
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from sandgate_kernel import forkloop

    if mode == "bare":
        # Only programs are started from it: a child that comes back here was meant to be a kernel, and there is none.
        os._exit(0 if forkloop.ForkLoop().serve(control) is None else 70)
    from sandgate_kernel import memory, preload

    kernel = preload.make_kernel(full=mode == "full")
    sys.path.pop(sys.path.index(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    sys.argv[:] = [""]
    loop = forkloop.ForkLoop()
    memory.settle()
    descriptors = loop.serve(control)
    if descriptors is None:
        os._exit(0)
    kernel.serve(*descriptors)


main()
