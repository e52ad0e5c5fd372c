"""Runs every other test again with a kernel that has loaded IPython only: users must not see a difference."""

import os
import subprocess
import sys
import tempfile
import unittest

import harness

HERE = os.path.dirname(os.path.abspath(__file__))


@unittest.skipIf(harness.MODE == "lean", "this is the inner run")
class Lean(unittest.TestCase):
    def test_everything_again(self):
        settings = {**os.environ, "KERNEL_TEST_MODE": "lean"}
        run = subprocess.run(
            [sys.executable, "-m", "unittest", "discover", HERE],
            env=settings,
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_what_a_warm_process_loads_and_writes(self):
        code = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "from sandgate_kernel import preload\n"
            "import os, threading\n"
            "before = os.listdir('/proc/self/fd')\n"
            "preload.make_kernel(sys.argv[2] == 'full')\n"
            "assert os.listdir('/proc/self/fd') == before and threading.active_count() == 1\n"
            "print('numpy' in sys.modules, 'matplotlib' in sys.modules, 'sqlite3' in sys.modules)"
        )
        for mode, loaded in (("lean", "False False False\n"), ("full", "True True False\n")):
            with tempfile.TemporaryDirectory() as home:
                run = subprocess.run(
                    [sys.executable, "-I", "-c", code, os.path.dirname(HERE), mode],
                    env={"HOME": home},
                    cwd=home,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((run.stdout, run.stderr, os.listdir(home)), (loaded, "", []))


if __name__ == "__main__":
    unittest.main()
