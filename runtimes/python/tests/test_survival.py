"""Interrupts, and cells that break what the kernel stands on: the next cell still runs."""

import os
import signal
import time
import unittest

from harness import KernelTest


class Interrupts(KernelTest):
    def interrupted(self, code, after=0.3):
        self.engine.start(code)
        timer = self.engine.interrupt_after(after)
        begin = time.monotonic()
        run = self.engine.collect(10)
        timer.join()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(run.error["name"], "KeyboardInterrupt")
        self.assertEqual(run.done["status"], "error")
        self.assertEqual(self.assert_ok("40 + 2").text, "42")
        return run

    def test_sleep_and_loops(self):
        self.interrupted("import time\ntime.sleep(30)")
        self.interrupted("while True: pass")
        self.interrupted("import subprocess\nsubprocess.run(['sleep', '30'])")
        self.interrupted("!sleep 30")
        self.interrupted("import asyncio\nawait asyncio.sleep(30)")
        self.interrupted("asyncio.run(asyncio.sleep(30))")
        self.interrupted("%timeit -n 1 -r 1 time.sleep(30)")

    def test_while_printing_frames_stay_whole(self):
        for after in (0.1, 0.11, 0.12, 0.13, 0.14):
            run = self.interrupted("while True:\n    print('x' * 5000)", after)
            self.assertEqual(set(run.stdout), {"x", "\n"})

    def test_many_interrupts(self):
        self.engine.start(
            "import time\nwhile True:\n    try:\n        print('y' * 100)\n    except KeyboardInterrupt:\n        break"
        )
        for _ in range(20):
            time.sleep(0.01)
            os.kill(self.engine.pid, signal.SIGINT)
        self.assertIn(self.engine.collect(10).done["status"], ("ok", "error"))
        self.assertEqual(self.assert_ok("1").text, "1")

    def test_idle_kernel_ignores_it(self):
        self.assert_ok("1")
        for _ in range(3):
            os.kill(self.engine.pid, signal.SIGINT)
            time.sleep(0.05)
        self.assertEqual(self.assert_ok("2").text, "2")

    def test_own_handler_ends_with_the_cell(self):
        self.assert_ok("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)")
        self.interrupted("time.sleep(30)")


class Survival(KernelTest):
    def test_what_cells_may_break(self):
        for code in (
            "import sys\nsys.stdout = None",
            "sys.stdout = sys.stderr = open('/dev/null', 'w')",
            "sys.stdout.close()",
            "sys.stdout.detach()",
            "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='latin-1')\ndel sys.stdout",
            "import os\nos.close(1)\nos.close(2)",
            "os.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
            "sys.displayhook = None",
            "import builtins\ndel builtins.len, builtins.print, builtins.isinstance, builtins.get_ipython",
            "sys.setrecursionlimit(100)",
            "import gc\ngc.disable()",
            "globals().clear()",
            "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')",
            "sys.excepthook = None",
            "sys.modules.clear()",
            "get_ipython().reset()",
            "get_ipython().user_ns.clear()",
        ):
            self.run_cell(code)
            run = self.assert_ok("print('alive', len('four'))\n6 * 7")
            self.assertEqual((run.stdout, run.text), ("alive 4\n", "42"), code)
        run = self.assert_ok("__import__('os').system('cd /; echo program')")
        self.assertEqual(run.stdout, "program\n")

    def test_wrapped_stdout_is_flushed_and_stays_usable(self):
        run = self.assert_ok(
            "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('wrapped')"
        )
        self.assertEqual(run.stdout, "wrapped\n")
        self.assertEqual(self.assert_ok("print('next')").stdout, "next\n")

    def test_unsafe_open_descriptors(self):
        self.assert_ok("import os\nos.close(1)\nf = open('taken.txt', 'w')")
        self.assertEqual(self.assert_ok("os.system('echo program')").stdout, "program\n")

    def test_engine_gone_ends_the_kernel(self):
        self.assert_ok("1")
        self.engine.socket.shutdown(2)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            with open(f"/proc/{self.engine.pid}/stat") as stat:
                if stat.read().split(")")[1].split()[0] == "Z":
                    return
            time.sleep(0.02)
        self.fail("the kernel still runs")


if __name__ == "__main__":
    unittest.main()
