"""Loads the libraries once and runs every kind of cell once, so that the kernels forked from here start warm."""

import gc
import logging
import os
import socket
import sys
import warnings

from . import memory

WARM_CELLS = (
    "1 + 1",
    "x = [1, {'a': 2.5}]\nprint('text', x)\nx",
    "import sys\nprint('text', file=sys.stderr)",
    "display({'text/plain': 'text', 'text/html': '<b>text</b>'}, raw=True)",
    "def divide(a):\n    return 1 / a\n\n\ndivide(0)",
    "x = = 1",
    "def f():\n    yield 1\nreturn f",
    "%pwd",
    "pwd",
    "import os\nlen?",
    "await __import__('asyncio').sleep(0)",
    "for i in range(3):\n    x = i\nx",
)
WARM_DATA_CELLS = (
    "import io, numpy as np, pandas as pd, matplotlib.pyplot as plt\nfrom PIL import Image",
    "np.arange(12.0).reshape(3, 4).mean(axis=0)",
    "df = pd.DataFrame({'a': [1, 2, 1], 'b': [1.5, 2.5, None], 'c': ['x', 'y', 'z']})\ndf",
    "print(df.groupby('a')['b'].sum())\ndf.describe()",
    "pd.read_csv(io.StringIO('a,b\\n1,2\\n')).dtypes",
    "plt.plot([1, 2, 3], [1, 4, 9], label='line')\nplt.title('title')\nplt.xlabel('x')\nplt.legend()\nplt.show()",
    "fig, ax = plt.subplots(1, 2)\nax[0].bar(['a', 'b'], [1, 2])\nax[1].scatter([1, 2], [2, 1])",
    "Image.new('RGB', (2, 2))",
    "df['missing']",
)
# Python rewrites code that runs often; after some rounds it is done, and forks find nothing left to rewrite.
EVERYDAY_CELLS = ("1 + 1", "x = 1", "print('text')", "x = [1]\nprint(x)\nx")
OUTSIDE = ("stdout", "stderr", "stdin", "__stdout__", "__stderr__", "__stdin__")
DATA_LIBRARIES = ("numpy", "pandas", "matplotlib", "matplotlib.pyplot", "PIL.Image")


def make_kernel(full):
    """The kernel that every fork inherits, as if it had never run anything."""
    gc.disable()  # no collection until the first kernel runs: each would touch, and so copy, all the shared memory
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        load_libraries(full)
        # What is made from here on is what every cell uses: it lies together, so that forks copy few pages for it.
        memory.fill_gaps()
        kernel = build_kernel()
        run_warm_cells(kernel, WARM_CELLS + (WARM_DATA_CELLS if full else ()))
        run_warm_cells(kernel, EVERYDAY_CELLS * 20)
        drop_loaded_fonts()
        drop_event_loop()
        logging.disable(logging.NOTSET)
    # IPython's advice after a SystemExit is for people at a terminal.
    warnings.filterwarnings("ignore", message="To exit: use 'exit'")
    kernel.session.reset(kernel.shell)
    if "" not in sys.path:
        sys.path.insert(0, "")  # cells import from the working folder; the libraries above must not
    return kernel


def load_libraries(full):
    import getpass

    import IPython  # noqa: F401

    from . import fonts, streams
    from .imports import steps

    fonts.add_steps(steps)
    steps.install()
    if full:
        load_data_libraries()
        from . import languages  # noqa: F401  # small, and contexts of other languages start much sooner
    getpass.getpass = streams.refuse_password


def build_kernel():
    from .kernel import Kernel
    from .shell import make_shell

    return Kernel(make_shell())


def load_data_libraries():
    # Matplotlib insists on a folder it could write to, though it finds all it reads in the runtime.
    home_settings = os.environ.get("MPLCONFIGDIR")
    folder = next((each for each in ("/tmp", "/dev/shm") if os.access(each, os.W_OK)), None)
    if folder:
        os.environ["MPLCONFIGDIR"] = folder
    for name in DATA_LIBRARIES:
        __import__(name)
    if home_settings is None:
        os.environ.pop("MPLCONFIGDIR", None)
    forget_matplotlib_folders(sys.modules["matplotlib"])


def forget_matplotlib_folders(matplotlib):
    """A kernel has a home of its own: it looks for its folders anew when it needs them."""
    remember = matplotlib._logged_cached
    find = matplotlib._get_config_or_cache_dir
    matplotlib.get_configdir = remember("CONFIGDIR=%s")(lambda: find(matplotlib._get_xdg_config_dir))
    matplotlib.get_cachedir = remember("CACHEDIR=%s")(lambda: find(matplotlib._get_xdg_cache_dir))


def drop_loaded_fonts():
    from . import fonts

    if "matplotlib.font_manager" in sys.modules:
        fonts.forget_loaded(sys.modules["matplotlib.font_manager"])


def drop_event_loop():
    """The loop that the rehearsed `await` left behind has descriptors, which no two kernels may share."""
    from IPython.core import async_helpers

    if async_helpers._asyncio_event_loop is not None:
        async_helpers._asyncio_event_loop.close()
        async_helpers._asyncio_event_loop = None


def run_warm_cells(kernel, cells):
    """Runs cells exactly as a kernel would, with a socket and pipes of its own whose other ends are thrown away."""
    ours, engine = socket.socketpair()
    engine.setblocking(False)
    pipes = [os.pipe() for _ in range(2)]
    outside = [(name, getattr(sys, name)) for name in OUTSIDE]
    kernel.attach(ours.fileno(), pipes[0][0], pipes[1][0])
    for code in cells:
        kernel.execute(code)
        empty(engine)
    kernel.detach()
    for name, value in outside:
        setattr(sys, name, value)
    ours.close()
    engine.close()
    for pipe in pipes:
        for descriptor in pipe:
            os.close(descriptor)


def empty(engine):
    try:
        while engine.recv(1 << 20):
            pass
    except BlockingIOError:
        pass
