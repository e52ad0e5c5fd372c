"""Every way a cell can fail gives one readable error, and the kernel lives on."""

import json
import time
import unittest

from harness import KernelTest


class Errors(KernelTest):
    def failing(self, code, timeout=20):
        run = self.run_cell(code, timeout)
        self.assertEqual(run.done["status"], "error")
        self.assertEqual(run.kinds.count("error"), 1)
        self.assertEqual(run.kinds[-2:], ["error", "done"])
        for hidden in ("sandgate_kernel", "\x1b[", "runtimes/python"):
            self.assertNotIn(hidden, run.traceback)
        return run

    def test_traceback_shows_the_lines(self):
        run = self.failing("def divide(a):\n    return 1 / a\n\ndivide(0)")
        self.assertEqual((run.error["name"], run.error["value"]), ("ZeroDivisionError", "division by zero"))
        self.assertIn("Cell In[1], line 4", run.traceback)
        self.assertIn("----> 4 divide(0)", run.traceback)
        self.assertIn("----> 2     return 1 / a", run.traceback)
        self.assertEqual((run.stdout, run.stderr), ("", ""))
        self.assertEqual(self.assert_ok("1").done["execution_count"], 2)

    def test_error_in_function_of_an_earlier_cell(self):
        self.assert_ok("def divide(a):\n    return 1 / a")
        run = self.failing("divide(0)")
        self.assertIn("Cell In[1], line 2", run.traceback)
        self.assertIn("Cell In[2], line 1", run.traceback)

    def test_chained_errors(self):
        run = self.failing("try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('no a') from e")
        self.assertIn("direct cause", run.traceback)
        self.assertIn("KeyError: 'a'", run.traceback)

    def test_syntax_errors(self):
        run = self.failing("x = = 1")
        self.assertEqual(run.error["name"], "SyntaxError")
        self.assertIn("x = = 1", run.traceback)
        self.assertEqual(self.failing("return 5").error["name"], "SyntaxError")
        self.assertEqual(self.failing("if True:\nx = 1").error["name"], "IndentationError")
        self.assertEqual(self.failing("exec('a b')").error["name"], "SyntaxError")
        self.assertIn(self.failing("a\0b").error["name"], ("SyntaxError", "ValueError"))

    def test_exits(self):
        for code, value in (
            ("exit()", "0"),
            ("quit", "0"),
            ("exit(2)", "2"),
            ("import sys\nsys.exit(3)", "3"),
            ("sys.exit('why')", "why"),
            ("await __import__('asyncio').sleep(0)\nsys.exit(4)", "4"),
        ):
            run = self.failing(code)
            self.assertEqual((run.error["name"], run.error["value"], run.stderr), ("SystemExit", value, ""), code)
        self.assertEqual(self.assert_ok("1").text, "1")

    def test_deep_recursion_is_quick(self):
        begin = time.monotonic()
        run = self.failing("import sys\nsys.setrecursionlimit(5000)\ndef f(n):\n    return f(n + 1)\nf(0)")
        self.assertEqual(run.error["name"], "RecursionError")
        self.assertIn("frames in the middle of the stack left out", run.traceback)
        self.assertLess(time.monotonic() - begin, 3)
        self.assertLess(len(run.traceback), 20_000)

    def test_exception_that_cannot_be_shown(self):
        run = self.failing(
            "class Bad(Exception):\n    def __str__(self):\n        raise RuntimeError\n"
            "    __repr__ = __str__\nraise Bad"
        )
        self.assertEqual(run.error["name"], "Bad")
        self.assertIn("cannot be made", run.error["value"])
        run = self.failing(
            "class Worse(Exception):\n    def _render_traceback_(self):\n        raise RuntimeError\n"
            "raise Worse('value')"
        )
        self.assertEqual((run.error["name"], run.error["value"]), ("Worse", "value"))

    def test_exception_group(self):
        run = self.failing("raise ExceptionGroup('both', [ValueError('one'), TypeError('two')])")
        self.assertEqual(run.error["name"], "ExceptionGroup")
        self.assertIn("ValueError: one", run.traceback)
        self.assertIn("TypeError: two", run.traceback)

    def test_huge_message_is_cut(self):
        run = self.failing("raise ValueError('x' * 10_000_000)")
        self.assertRegex(run.error["value"], r"x\[\.\.\. \d+ characters left out\]$")
        self.assertLess(len(run.error["value"]), 2_000_000)
        self.assertLess(len(run.traceback), 1_200_000)

    def test_answer_as_an_exception_is_whole(self):
        run = self.failing("raise ValueError('é' * 3_000_000)")
        self.assertEqual(run.error["value"], "é" * 3_000_000)

    def test_message_of_escapes_fits_a_frame(self):
        for letter in ("\\x01", "\\U0001f600"):
            run = self.failing(f"raise ValueError('{letter}' * 5_000_000)")
            self.assertLess(len(json.dumps(run.error, ensure_ascii=False).encode()), 16 << 20)

    def test_cycle_of_causes(self):
        run = self.failing("a, b = ValueError('a'), ValueError('b')\na.__context__, b.__context__ = b, a\nraise a", 10)
        self.assertEqual(run.error["name"], "ValueError")

    def test_output_before_the_error_is_kept(self):
        run = self.failing("print('before', end='')\n1/0")
        self.assertEqual(run.kinds, ["stdout", "error", "done"])

    def test_base_exceptions(self):
        self.assertEqual(self.failing("raise KeyboardInterrupt").error["name"], "KeyboardInterrupt")
        self.assertEqual(self.failing("raise GeneratorExit").error["name"], "GeneratorExit")
        self.assertEqual(self.failing("class Stop(BaseException): pass\nraise Stop('now')").error["value"], "now")

    def test_unknown_magic(self):
        self.assertEqual(self.failing("%nosuchmagic").error["name"], "UsageError")

    def test_error_in_a_formatter(self):
        run = self.assert_ok(
            "class A:\n    def _repr_html_(self):\n        return 1 / 0\n    def __repr__(self):\n"
            "        return 'an A'\nA()"
        )
        self.assertEqual(run.result, {"text/plain": "an A"})
        self.assertIn("ZeroDivisionError", run.stderr)

    def test_error_in_repr(self):
        run = self.run_cell("class A:\n    def __repr__(self):\n        return 1 / 0\nA()")
        self.assertIn("ZeroDivisionError", run.stderr)
        self.assertTrue(run.ok)

    def test_error_shown_by_the_cell_itself(self):
        run = self.assert_ok(
            "try:\n    1/0\nexcept ZeroDivisionError:\n    get_ipython().showtraceback()\nprint('went on')"
        )
        self.assertIn("ZeroDivisionError", run.stderr)
        self.assertEqual(run.stdout, "went on\n")

    def test_tb_shows_the_last_error_again(self):
        self.failing("1/0")
        self.assertIn("ZeroDivisionError", self.assert_ok("%tb").stderr)

    def test_custom_exception_handler(self):
        self.assert_ok(
            "def handle(shell, kind, value, tb, tb_offset=None):\n    print('handled', value)\n"
            "get_ipython().set_custom_exc((KeyError,), handle)"
        )
        run = self.run_cell("{}['x']")
        self.assertEqual(run.stdout, "handled 'x'\n")
        self.assertEqual(run.error["name"], "KeyError")


if __name__ == "__main__":
    unittest.main()
