"""Variables and a working folder: those of the whole kernel, and those of one execution alone."""

import os
import unittest

from harness import KernelTest

CHILD = "import subprocess\nprint(subprocess.check_output('echo $FOO', shell=True, text=True), end='')"


class OneExecution(KernelTest):
    def seen(self, **more):
        return self.assert_ok("import os\nprint(os.getenv('FOO'))\n" + CHILD, **more).stdout.split("\n")[:2]

    def test_are_there_and_gone_again(self):
        self.assertEqual(self.seen(env={"FOO": "bar"}), ["bar", "bar"])
        self.assertEqual(self.seen(), ["None", ""])

    def test_what_was_there_comes_back(self):
        self.engine.configure(FOO="sandbox")
        self.assertEqual(self.seen(env={"FOO": "run"}), ["run", "run"])
        self.assertEqual(self.seen(), ["sandbox", "sandbox"])
        self.assert_ok("os.environ['FOO'] = 'cell'")
        self.assertEqual(self.seen(env={"FOO": "run"}), ["run", "run"])
        self.assertEqual(self.seen(), ["cell", "cell"])

    def test_are_gone_after_an_error(self):
        run = self.run_cell("1/0", env={"FOO": "bar"})
        self.assertEqual(run.error["name"], "ZeroDivisionError")
        self.assertEqual(self.seen(), ["None", ""])

    def test_are_gone_after_an_interrupt(self):
        self.engine.start("import time\nprint('started')\ntime.sleep(60)", env={"FOO": "bar"})
        self.assertEqual(self.engine.next_frame(20)[0], "stdout")
        self.engine.interrupt_after(0)
        self.assertEqual(self.engine.collect().error["name"], "KeyboardInterrupt")
        self.assertEqual(self.seen(), ["None", ""])

    def test_are_gone_after_a_cell_that_tampers(self):
        self.assert_ok("import os\nos.environ['FOO'] = 'other'\nreal = os.environ", env={"FOO": "bar"})
        self.assertEqual(self.seen(), ["None", ""])
        self.assert_ok("os.environ = {}", env={"FOO": "bar"})
        self.assertEqual(self.assert_ok("os.environ = real\n'FOO' in os.environ").text, "False")
        self.assert_ok("os.environ.clear()", env={"FOO": "bar"})
        self.assertEqual(self.assert_ok("dict(os.environ)").text, "{}")

    def test_one_that_cannot_be(self):
        run = self.run_cell("print('never')", env={"GOOD": "1", "A=B": "2"})
        self.assertEqual((run.kinds, run.ok), (["error", "done"], False))
        self.assertEqual(self.assert_ok("import os\nos.getenv('GOOD')").kinds, ["done"])

    def test_time_zone(self):
        hour = "import time\nprint(time.localtime(0).tm_hour)"
        self.assertEqual(self.assert_ok(hour, env={"TZ": "UTC-9"}).stdout, "9\n")
        self.assertEqual(self.assert_ok(hour, env={"TZ": "UTC"}).stdout, "0\n")


class WorkingFolder(KernelTest):
    def test_moves_when_told_anew(self):
        other = os.path.join(self.engine.home, "other")
        os.mkdir(other)
        self.engine.configure(cwd=other)
        self.assertEqual(self.assert_ok("import os\nprint(os.getcwd())").stdout, other + "\n")


if __name__ == "__main__":
    unittest.main()
