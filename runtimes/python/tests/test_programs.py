"""Other programs and processes: shell commands, magics that start them, forks, and installing packages."""

import os
import unittest
import zipfile

from harness import KernelTest
from sandgate_kernel import environment


class Programs(KernelTest):
    def test_shell_commands(self):
        run = self.assert_ok("print('a', end='')\n!echo b; echo c >&2\nprint('d')")
        self.assertEqual((run.stdout, run.stderr), ("ab\nd\n", "c\n"))
        self.assertEqual(self.assert_ok("name = 'x'\n!echo {name} $name").stdout, "x x\n")
        self.assertEqual(self.assert_ok("!echo $HOME").stdout, f"{self.engine.home}\n")
        self.assert_ok("!exit 3")
        self.assertEqual(self.assert_ok("_exit_code").text, "3")

    def test_shell_output_streams(self):
        self.engine.start("!echo now; sleep 5")
        self.assertEqual(self.engine.next_frame(2), ("stdout", b"now\n"))

    def test_shell_output_as_lines(self):
        self.assertEqual(self.assert_ok("lines = !printf 'a\\nb\\n'\nlines").text, "['a', 'b']")
        self.assertEqual(self.assert_ok("!!echo hi").text, "['hi']")

    def test_bash_magic(self):
        run = self.assert_ok("%%bash\nfor i in 1 2; do echo $i; done\necho err >&2")
        self.assertEqual((run.stdout, run.stderr), ("1\n2\n", "err\n"))
        self.assertEqual(self.run_cell("%%bash\nexit 4").error["name"], "CalledProcessError")

    def test_file_magics(self):
        self.assertIn(
            "Writing script.py", self.assert_ok("%%writefile script.py\nprint('from a script')\nvalue = 5").stdout
        )
        self.assertEqual(self.assert_ok("%run script.py\nvalue").stdout, "from a script\n")
        self.assert_ok("%%writefile broken.py\n1/0")
        run = self.run_cell("%run broken.py")
        self.assertEqual((run.error["name"], run.done["status"]), ("ZeroDivisionError", "error"))
        self.assertIn("broken.py", run.traceback)
        self.assert_ok("%%writefile helper.py\ndef answer():\n    return 42")
        self.assertEqual(self.assert_ok("import helper\nhelper.answer()").text, "42")

    def test_folder_magics(self):
        self.assert_ok("import os\nos.mkdir('sub')\n%cd sub")
        self.assertEqual(self.assert_ok("os.getcwd()").text, repr(self.engine.home + "/sub"))
        self.assert_ok("%cd ..")
        self.assertEqual(self.assert_ok("%pwd").text, repr(self.engine.home))

    def test_other_magics(self):
        self.assertIn("per loop", self.assert_ok("%timeit -n2 -r2 1 + 1").stdout)
        self.assertIn("Wall time", self.assert_ok("%%time\nx = 1").stdout)
        self.assertIn("Docstring", self.assert_ok("?len").stdout)
        self.assertIn("def f", self.assert_ok("def f(): pass\nf??").stdout)
        self.assertIn("x", self.assert_ok("%who").stdout)
        self.assertIn("GREETING", self.assert_ok("%env GREETING=hi\n%env").text)
        self.assertIn("hello", self.assert_ok("%%html\n<b>hello</b>").displays[0]["text/html"])
        run = self.run_cell("%%capture out\nprint('kept')\n1/0")
        self.assertEqual(run.error["name"], "ZeroDivisionError")

    def test_install_a_wheel(self):
        make_wheel(os.path.join(self.engine.home, "tiny_pack-1.0-py3-none-any.whl"))
        self.assertEqual(self.run_cell("import tiny_pack").error["name"], "ModuleNotFoundError")
        run = self.assert_ok("%pip install ./tiny_pack-1.0-py3-none-any.whl", 60)
        self.assertIn("Successfully installed tiny_pack-1.0", run.stdout.replace("tiny-pack", "tiny_pack"))
        self.assertEqual(run.stderr, "")
        self.assertEqual(
            self.assert_ok("import tiny_pack\ntiny_pack.__file__").text,
            repr(f"{self.engine.home}/{environment.PACKAGES}/tiny_pack.py"),
        )

    def test_fork(self):
        run = self.assert_ok(
            "import os\nprint('before', end=' ')\npid = os.fork()\nif pid == 0:\n    print('child')\n"
            "    os._exit(0)\nos.waitpid(pid, 0)\nprint('parent')"
        )
        self.assertEqual(run.stdout, "before child\nparent\n")

    def test_fork_in_a_forked_child(self):
        run = self.assert_ok(
            "import os\npid = os.fork()\nif pid == 0:\n    pipes = [os.pipe() for _ in range(8)]\n"
            "    if os.fork() == 0:\n        for reader, writer in pipes:\n            os.fstat(reader), os.fstat(writer)\n"
            "        os._exit(7)\n    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
            "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
        )
        self.assertEqual(run.text, "7")

    def test_forked_child_that_falls_off_the_end(self):
        run = self.assert_ok(
            "import os, sys\npid = os.fork()\nif pid:\n    status = os.waitpid(pid, 0)[1]\nelse:\n"
            "    print('child')\nprint(os.getpid() == pid or 'end')"
        )
        self.assertEqual(run.stdout, "child\nend\nend\n")
        run = self.assert_ok(
            "pid = os.fork()\nif not pid:\n    sys.exit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
        )
        self.assertEqual(run.text, "7")
        run = self.assert_ok("pid = os.fork()\nif not pid:\n    1/0\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
        self.assertEqual((run.text, run.kinds.count("done")), ("1", 1))
        self.assertIn("ZeroDivisionError", run.stderr)

    def test_multiprocessing(self):
        run = self.assert_ok(
            "from multiprocessing import get_context\ndef work(n):\n    print('working')\n    return n * n\n"
            "with get_context('fork').Pool(2) as pool:\n    squares = pool.map(work, [1, 2, 3])\n"
            "print(squares)",
            30,
        )
        self.assertEqual(sorted(run.stdout.splitlines()), ["[1, 4, 9]"] + ["working"] * 3)

    def test_background_process_does_not_hold_the_cell(self):
        run = self.assert_ok("import subprocess\np = subprocess.Popen(['sleep', '30'])\nprint('started')", 5)
        self.assertEqual(run.stdout, "started\n")

    def test_kernel_descriptors_are_not_inherited(self):
        run = self.assert_ok("import subprocess\nsubprocess.run('ls -l /proc/self/fd', shell=True, close_fds=False)")
        self.assertIn("pipe:", run.stdout)
        self.assertNotIn("socket:", run.stdout)


def make_wheel(path):
    info = "tiny_pack-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny_pack.py", "VALUE = 7\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny_pack\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"tiny_pack.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


if __name__ == "__main__":
    unittest.main()
