"""What is printed arrives whole, once and in order, whoever prints it."""

import unittest

from harness import KernelTest


class Streams(KernelTest):
    def test_one_print_is_one_frame(self):
        self.assertEqual(self.assert_ok("print('a', 'b')").frames[0], ("stdout", b"a b\n"))
        self.assertEqual(self.assert_ok("print('a\\nb')").frames[0], ("stdout", b"a\nb\n"))

    def test_order_of_stdout_stderr_and_display(self):
        run = self.assert_ok(
            "import sys\nprint('1', end='')\nprint('2', file=sys.stderr, end='')\nprint('3', end='')\n"
            "display('four')\nprint('5', end='', flush=True)\nsys.stderr.write('6')\n7"
        )
        self.assertEqual(run.kinds, ["stdout", "stderr", "stdout", "display", "stdout", "stderr", "result", "done"])
        self.assertEqual((run.stdout, run.stderr), ("135", "26"))

    def test_children_and_c_code_in_order(self):
        run = self.assert_ok(
            "import os, subprocess, ctypes\nlibc = ctypes.CDLL(None)\nprint('1', end='')\nos.system('printf 2')\n"
            "print('3', end='')\nsubprocess.run(['printf', '4'])\nprint('5')\nlibc.puts(b'6')\nprint('7')\n"
            "libc.printf(b'8')"
        )
        self.assertEqual(run.stdout, "12345\n6\n7\n8")

    def test_writes_to_descriptors_in_order(self):
        run = self.assert_ok(
            "import os\nfor i in range(50):\n    os.write(1, b'%d,' % i)\n    print(f'{i}', end=';', flush=True)"
        )
        self.assertEqual(run.stdout, "".join(f"{i},{i};" for i in range(50)))

    def test_stderr_of_children(self):
        run = self.assert_ok("import os\nos.system('echo out; echo err >&2')\nprint('end')")
        self.assertEqual((run.stdout, run.stderr), ("out\nend\n", "err\n"))

    def test_output_streams_while_the_cell_runs(self):
        self.engine.start("import time\nprint('now')\ntime.sleep(5)")
        self.assertEqual(self.engine.next_frame(2), ("stdout", b"now\n"))

    def test_large_output(self):
        run = self.assert_ok("print('x' * 5_000_000)")
        self.assertEqual(len(run.stdout), 5_000_001)
        self.assertLessEqual(max(len(body) for kind, body in run.frames if kind == "stdout"), 1 << 20)
        run = self.assert_ok("import os\nos.system('head -c 3000000 /dev/zero | tr \"\\\\0\" y')\nprint('end')")
        self.assertEqual(run.stdout, "y" * 3_000_000 + "end\n")

    def test_odd_characters(self):
        self.assertEqual(self.assert_ok("print('ä€\\U0001f600')").stdout, "ä€\U0001f600\n")
        self.assertEqual(self.assert_ok("print('\\udc80')").stdout, "\\udc80\n")
        self.assertEqual(self.assert_ok("'\\ud800'").text, "'\\ud800'")
        self.assertEqual(
            self.assert_ok("display({'text/plain': 'a\\ud800b'}, raw=True)").displays, [{"text/plain": "a?b"}]
        )

    def test_streams_look_like_files(self):
        self.assertEqual(
            self.assert_ok(
                "import sys\n"
                "(sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.isatty(), sys.stdout.encoding, "
                "sys.stdout.name)"
            ).text,
            "(1, 2, False, 'utf-8', '<stdout>')",
        )
        self.assertEqual(self.assert_ok("sys.stdout.buffer.write(b'bytes\\n')").stdout, "bytes\n")
        self.assertEqual(self.run_cell("sys.stdout.write(b'bytes')").error["name"], "TypeError")
        self.assertEqual(self.assert_ok("sys.stdout.writelines(['a', 'b\\n'])").stdout, "ab\n")

    def test_redirect_and_logging(self):
        run = self.assert_ok(
            "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n"
            "    print('inside')\nprint(out.getvalue(), end='')"
        )
        self.assertEqual(run.stdout, "inside\n")
        self.assertEqual(self.assert_ok("import logging\nlogging.warning('careful')").stderr, "WARNING:root:careful\n")
        self.assertIn("UserWarning: careful", self.assert_ok("import warnings\nwarnings.warn('careful')").stderr)

    def test_stdin_says_that_nobody_types(self):
        for code in (
            "input('Name? ')",
            "import sys\nsys.stdin.read()",
            "sys.stdin.readline()",
            "next(sys.stdin)",
            "list(sys.stdin)",
            "import getpass\ngetpass.getpass()",
            "sys.stdin.buffer.read()",
        ):
            run = self.run_cell(code, 5)
            self.assertEqual(run.error["name"], "StdinNotAvailable", code)
            self.assertIn("nobody can type", run.error["value"])
            self.assertNotIn("sandgate_kernel", run.traceback)
        self.assertEqual(
            self.assert_ok("try:\n    input()\nexcept EOFError:\n    print('no input')").stdout, "no input\n"
        )

    def test_threads_print(self):
        run = self.assert_ok(
            "import threading\ndef work(n):\n    for i in range(200):\n        print(f'{n}:{i}')\n"
            "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads];"
        )
        self.assertEqual(sorted(run.stdout.split()), sorted(f"{n}:{i}" for n in range(4) for i in range(200)))

    def test_signal_handler_prints_while_printing(self):
        run = self.assert_ok(
            "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: print('tick'))\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nend = time.time() + 0.5\n"
            "while time.time() < end:\n    print('x' * 100)\nsignal.setitimer(signal.ITIMER_REAL, 0)\nprint('end')"
        )
        self.assertIn("tick", run.stdout)
        self.assertTrue(run.stdout.endswith("end\n"))


if __name__ == "__main__":
    unittest.main()
