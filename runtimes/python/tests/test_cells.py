"""What a cell is and what it leaves behind: results, counts, history, magics without `%`, top-level await."""

import unittest

from harness import KernelTest


class Cells(KernelTest):
    def test_ready_says_which_python(self):
        kind, body = self.engine.ready
        self.assertEqual((kind, body["language"]), ("ready", "python"))
        self.assertRegex(body["version"], r"^3\.\d+\.\d+")

    def test_first_cell_is_number_one(self):
        run = self.assert_ok("1 + 1")
        self.assertEqual(run.frames[0], ("result", {"data": {"text/plain": "2"}, "execution_count": 1}))
        self.assertEqual(run.done, {"execution_count": 1, "status": "ok"})
        self.assertEqual(run.kinds, ["result", "done"])

    def test_only_last_expression_is_shown(self):
        run = self.assert_ok("1\n2\n3")
        self.assertEqual([each["text/plain"] for each in run.results], ["3"])
        self.assertEqual(self.assert_ok("x = 5").kinds, ["done"])
        self.assertEqual(self.assert_ok("x;").kinds, ["done"])
        self.assertEqual(self.assert_ok("x # ;").text, "5")
        self.assertEqual(self.assert_ok("';'").text, "';'")
        self.assertEqual(self.assert_ok("None").kinds, ["done"])

    def test_state_lives_on(self):
        self.assert_ok("import math\ndef area(r):\n    return round(math.pi * r * r, 2)")
        self.assertEqual(self.assert_ok("area(2)").text, "12.57")

    def test_history_and_outputs(self):
        self.assert_ok("40 + 2")
        self.assertEqual(self.assert_ok("_ + 1").text, "43")
        self.assertEqual(
            self.assert_ok("(_1, __, Out[2], In[1], _i2, _ih[1], _oh[1])").text,
            str((42, 42, 43, "40 + 2", "_ + 1", "40 + 2", 42)),
        )
        self.assertEqual(self.assert_ok("%history -n 1-2").stdout, "   1: 40 + 2\n   2: _ + 1\n")
        self.assertEqual(self.assert_ok("get_ipython().execution_count").text, "6")

    def test_nothing_of_the_rehearsal_is_left(self):
        names = ["In", "Out", "exit", "get_ipython", "open", "quit"]
        self.assertEqual(
            self.assert_ok("print([n for n in dir() if n[0] != '_'], len(In), Out)").stdout, f"{names} 2 {{}}\n"
        )
        self.assertEqual(self.assert_ok("import sys\nhasattr(sys, 'last_value')").text, "False")

    def test_empty_and_comment_cells(self):
        self.assertEqual(self.assert_ok("").done["execution_count"], 0)
        self.assertEqual(self.assert_ok("  \n\n").done["execution_count"], 0)
        self.assertEqual(self.assert_ok("# nothing").done["execution_count"], 1)

    def test_indented_and_pasted_cells(self):
        self.assertEqual(self.assert_ok("    x = 1\n    x + 1").text, "2")
        self.assertEqual(self.assert_ok("\n\n7").text, "7")
        self.assertEqual(self.assert_ok(">>> x = 3\n>>> x").text, "3")
        self.assertEqual(self.assert_ok("In [1]: y = 4\n\nIn [2]: y").text, "4")

    def test_magic_names_without_percent(self):
        self.assertEqual(self.assert_ok("pwd").text, repr(self.engine.home))
        self.assert_ok("pwd = 5")
        self.assertEqual(self.assert_ok("pwd").text, "5")
        self.assert_ok("open('seen.txt', 'w').close()")
        self.assertIn("seen.txt", self.assert_ok("ls -l").stdout)

    def test_lines_like_magics_inside_strings(self):
        self.assertEqual(self.assert_ok("text = '''\n!ls\n%pwd\n'''\ntext").text, repr("\n!ls\n%pwd\n"))

    def test_top_level_await_shares_one_loop(self):
        self.assert_ok("import asyncio\nasync def later(x):\n    await asyncio.sleep(0.01)\n    return x")
        self.assertEqual(self.assert_ok("await later(5)").text, "5")
        self.assert_ok("loop = asyncio.get_running_loop()\ntask = loop.create_task(later(6))\nawait asyncio.sleep(0)")
        self.assertEqual(self.assert_ok("(await task, asyncio.get_running_loop() is loop)").text, "(6, True)")
        self.assertEqual(self.assert_ok("asyncio.run(later(7))").text, "7")
        self.assertEqual(self.assert_ok("await later(8)").text, "8")
        self.assertEqual(self.run_cell("await asyncio.sleep(0)\n1/0").error["name"], "ZeroDivisionError")

    def test_future_imports_stay(self):
        self.assert_ok("from __future__ import annotations")
        self.assertEqual(self.assert_ok("def f(x: undefined): pass\nf.__annotations__").text, "{'x': 'undefined'}")

    def test_events_and_transformers(self):
        self.assert_ok(
            "seen = []\nip = get_ipython()\n"
            "ip.events.register('pre_run_cell', lambda info: seen.append(info.raw_cell))\n"
            "ip.events.register('post_run_cell', lambda result: seen.append(result.result))"
        )
        self.assert_ok("6 * 7")
        self.assertEqual(self.assert_ok("seen[1:3]").text, "['6 * 7', 42]")
        self.assert_ok(
            "import ast\nclass Double(ast.NodeTransformer):\n    def visit_Constant(self, node):\n"
            "        return ast.copy_location(ast.Constant(node.value * 2), node)\n"
            "ip.ast_transformers.append(Double())"
        )
        self.assertEqual(self.assert_ok("21").text, "42")

    def test_failing_callback_does_not_fail_the_cell(self):
        self.assert_ok("get_ipython().events.register('post_run_cell', lambda result: 1 / 0)")
        run = self.assert_ok("5")
        self.assertEqual(run.text, "5")
        self.assertIn("ZeroDivisionError", run.stderr)

    def test_interactivity_setting(self):
        self.assert_ok("get_ipython().ast_node_interactivity = 'all'")
        self.assertEqual([each["text/plain"] for each in self.assert_ok("1\n2").results], ["1", "2"])

    def test_other_input_transformers_are_used(self):
        self.assert_ok(
            "get_ipython().input_transformers_post.append(lambda lines: [l.replace('cat', 'dog') for l in lines])"
        )
        self.assertEqual(self.assert_ok("'cat'").text, "'dog'")

    def test_main_module_is_the_users(self):
        self.assertEqual(
            self.assert_ok("class A: pass\nimport pickle, sys\ntype(pickle.loads(pickle.dumps(A()))).__module__").text,
            "'__main__'",
        )
        self.assertEqual(self.assert_ok("import __main__\n__main__.A is A").text, "True")

    def test_environment_and_folder(self):
        self.engine.configure(GREETING="hello", cwd="/tmp")
        self.assertEqual(
            self.assert_ok("import os\n(os.environ['GREETING'], os.getcwd(), os.environ['HOME'])").text,
            str(("hello", "/tmp", self.engine.home)),
        )
        self.assertEqual(
            self.assert_ok("'KERNEL_TEST_MODE' in os.environ or 'OPENBLAS_NUM_THREADS' in os.environ").text, "False"
        )
        self.assertIn("cannot be used", self.engine.configure(cwd="/nowhere") or self.assert_ok("1").stderr)

    def test_random_numbers_differ(self):
        from harness import Engine

        other = Engine()
        self.addCleanup(other.close)
        code = (
            "import random, secrets, tempfile, multiprocessing\n"
            "(random.random(), secrets.token_hex(), next(tempfile._get_candidate_names()), "
            "multiprocessing.current_process().authkey)"
        )
        for mine, theirs in zip(eval(self.assert_ok(code).text), eval(other.run(code).text), strict=True):
            self.assertNotEqual(mine, theirs)


if __name__ == "__main__":
    unittest.main()
