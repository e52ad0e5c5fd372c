"""Contexts in other languages: state, values, errors, interrupts and the order of output, for each that is installed.

SANDGATE_RUNTIMES names the folder with the runtimes; Bash needs none.
"""

import os
import signal
import time
import unittest

from harness import Engine

RUNTIMES = os.environ.get("SANDGATE_RUNTIMES", "")


def needs(name):
    return unittest.skipUnless(os.path.isdir(os.path.join(RUNTIMES, name)), f"no runtime '{name}' in SANDGATE_RUNTIMES")


class LanguageTest(unittest.TestCase):
    language = None

    def setUp(self):
        self.engine = Engine(configure=False)
        self.addCleanup(self.engine.close)
        env = {"HOME": self.engine.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "GREETING": "hello"}
        env["SANDGATE_RUNTIMES"] = RUNTIMES
        settings = {"env": env, "cwd": self.engine.home, "language": self.language}
        self.engine.send(1, {**settings, "runtime": {"javascript": "node", "typescript": "node"}.get(self.language, self.language)})

    def cell(self, code, env=None):
        self.engine.send(2, {"code": code, "env": env or {}})
        return self.engine.collect(60)

    def ok(self, code, env=None):
        run = self.cell(code, env)
        self.assertTrue(run.ok, run.frames)
        return run

    def interrupt(self, code, begun):
        """Interrupts a cell once it has printed `begun`."""
        self.engine.send(2, {"code": code})
        seen = b""
        while begun.encode() not in seen:
            kind, body = self.engine.next_frame(60)
            seen += body if kind == "stdout" else b""
        os.killpg(self.engine.pid, signal.SIGINT)
        return self.engine.collect(20)


class Bash(LanguageTest):
    language = "bash"

    def test_variables_functions_and_folder_last(self):
        self.ok("x=5; f() { echo \"f $1 $x\"; }; mkdir -p sub && cd sub")
        self.assertEqual(self.ok("f 1; basename $PWD").stdout, "f 1 5\nsub\n")

    def test_arrays_declared_in_a_cell_last(self):
        self.ok("declare -a list=(a b c); declare -i n=3")
        self.assertEqual(self.ok("echo ${list[1]} $n").stdout, "b 3\n")

    def test_status_of_the_last_command_is_the_cells(self):
        run = self.cell("echo before; false")
        self.assertEqual((run.stdout, run.error["name"], run.error["value"]), ("before\n", "ExitStatus", "1"))
        self.assertEqual(self.ok("echo after").stdout, "after\n")

    def test_errors_go_to_standard_error(self):
        run = self.cell("echo out; nosuchcommand; echo err >&2; exit_status=$?; false")
        self.assertEqual(run.stdout, "out\n")
        self.assertIn("nosuchcommand: command not found", run.stderr)

    def test_a_syntax_error_leaves_the_shell_usable(self):
        self.assertFalse(self.cell("if then (").ok)
        self.assertEqual(self.ok("echo fine").stdout, "fine\n")

    def test_quotes_and_lines_arrive_as_written(self):
        self.assertEqual(self.ok("echo 'a'\"'\"'b' \"!x\"\ncat <<'END'\n$HOME `x`\nEND").stdout, "a'b !x\n$HOME `x`\n")

    def test_input_is_empty(self):
        self.assertEqual(self.ok("cat; read line; echo \"[$line]\"").stdout, "[]\n")

    def test_interrupt_keeps_variables(self):
        self.ok("kept=1")
        run = self.interrupt("echo begun; sleep 60", "begun")
        self.assertFalse(run.ok)
        self.assertEqual(self.ok("echo $kept").stdout, "1\n")

    def test_interrupt_of_a_loop_of_builtins(self):
        self.assertFalse(self.interrupt("echo begun; while true; do :; done", "begun").ok)
        self.assertEqual(self.ok("echo on").stdout, "on\n")

    def test_variables_of_one_run(self):
        self.assertEqual(self.ok("echo $ONCE; sh -c 'echo $ONCE'", {"ONCE": "a b"}).stdout, "a b\na b\n")
        self.assertEqual(self.ok("echo \"[$ONCE]\"").stdout, "[]\n")

    def test_environment_of_the_context(self):
        self.assertEqual(self.ok("echo $GREETING").stdout, "hello\n")

    def test_leaving_the_shell_ends_the_context(self):
        self.engine.send(2, {"code": "exit 3"})
        _, status = os.waitpid(self.engine.pid, 0)
        self.engine.pid = None
        self.assertEqual(os.waitstatus_to_exitcode(status), 3)

    def test_output_keeps_its_order(self):
        run = self.ok("for i in 1 2 3; do echo out$i; done; echo end")
        self.assertEqual(run.stdout, "out1\nout2\nout3\nend\n")


@needs("node")
class JavaScript(LanguageTest):
    language = "javascript"

    def test_declarations_last_and_may_be_repeated(self):
        self.ok("const a = 1; let b = 2; var c = 3; function f() { return a + b + c } class K { m() { return 7 } }")
        self.assertEqual(self.ok("f() + new K().m()").text, "13")
        self.assertEqual(self.ok("const a = 10; let b = 20; class K {}; a + b").text, "30")

    def test_await_and_imports_at_the_top(self):
        self.ok("import { readFileSync as read } from 'node:fs'; import os from 'os'; const v = await Promise.resolve(5)")
        self.assertEqual(self.ok("v + typeof read + typeof os.cpus").text, "'5functionfunction'")
        self.assertEqual(self.ok("(await import('node:path')).basename('/x/y')").text, "'y'")

    def test_variables_of_blocks_in_a_cell_that_awaits(self):
        self.ok("await 1; for (var i = 0; i < 3; i++) { var { q } = { q: i } }\nfor (var k of [7]) {}")
        self.assertEqual(self.ok("[i, q, k]").text, "[ 3, 2, 7 ]")

    def test_values(self):
        run = self.ok("({ a: [1, 2], b: 'x' })")
        self.assertEqual(run.text, "{ a: [ 1, 2 ], b: 'x' }")
        self.assertEqual(run.result["application/json"], {"a": [1, 2], "b": "x"})
        self.assertEqual(self.ok("undefined").results, [])

    def test_console_goes_to_the_streams_in_order(self):
        run = self.ok("console.log('out'); console.error('err'); process.stdout.write('half'); 3")
        self.assertEqual((run.stdout, run.stderr, run.text), ("out\nhalf", "err\n", "3"))

    def test_errors(self):
        run = self.cell("function deep() { throw new RangeError('too far') }\ndeep()")
        self.assertEqual((run.error["name"], run.error["value"]), ("RangeError", "too far"))
        self.assertIn("at deep (cell-1.js:1", run.traceback)
        self.assertNotIn("driver.cjs", run.traceback)
        self.assertEqual(self.cell("let = =").error["name"], "SyntaxError")
        self.assertEqual(self.cell("throw 'text'").error["value"], "'text'")
        self.assertEqual(self.cell("await Promise.reject(new TypeError('later'))").error["name"], "TypeError")

    def test_interrupts(self):
        self.ok("const kept = 1")
        run = self.interrupt("console.log('begun'); while (true) {}", "begun")
        self.assertEqual(run.error["name"], "KeyboardInterrupt")
        run = self.interrupt("console.log('begun'); await new Promise(() => {})", "begun")
        self.assertEqual(run.error["name"], "KeyboardInterrupt")
        self.assertEqual(self.ok("kept").text, "1")

    def test_variables_of_one_run(self):
        self.assertEqual(self.ok("process.env.ONCE + process.env.GREETING", {"ONCE": "x"}).text, "'xhello'")
        self.assertEqual(self.ok("process.env.ONCE").results, [])

    def test_timers_go_on_between_cells(self):
        self.ok("let done = 0; setTimeout(() => { done = 1 }, 10)")
        deadline = time.monotonic() + 20
        while self.ok("done").text != "1":
            self.assertLess(time.monotonic(), deadline)

    def test_a_late_failure_leaves_the_context_usable(self):
        self.ok("setTimeout(() => { throw new Error('late') }, 0); Promise.reject(new Error('lost')); 1")
        self.assertEqual(self.ok("await new Promise(r => setTimeout(r, 50)); 2").text, "2")

    def test_modules_are_found_from_the_working_folder(self):
        self.ok("require('fs').writeFileSync('own.js', 'module.exports = 42')")
        self.assertEqual(self.ok("require('./own.js')").text, "42")

    def test_a_cell_that_is_no_module(self):
        self.assertEqual(self.ok("with ({ a: 9 }) { a }").text, "9")

    def test_leaving_ends_the_context(self):
        self.engine.send(2, {"code": "process.exit(4)"})
        _, status = os.waitpid(self.engine.pid, 0)
        self.engine.pid = None
        self.assertEqual(os.waitstatus_to_exitcode(status), 4)


@needs("node")
class TypeScript(LanguageTest):
    language = "typescript"

    def test_types_are_no_more_than_types(self):
        self.ok("interface P { n: number }\nconst p: P = { n: 1 }\nfunction id<T>(x: T): T { return x }")
        self.assertEqual(self.ok("id<number>(p.n as number)").text, "1")

    def test_enums_and_await(self):
        self.assertEqual(self.ok("enum E { A, B }\nconst v: number = await Promise.resolve(E.B)\nv").text, "1")

    def test_a_syntax_error(self):
        self.assertEqual(self.cell("let bad: = 3").error["name"], "SyntaxError")


@needs("java")
class Java(LanguageTest):
    language = "java"

    def test_declarations_last(self):
        self.assertEqual(self.ok("int a = 10;").results, [])
        self.assertEqual(self.ok("a").text, "10")
        self.ok("int twice(int x) { return 2 * x; }\nclass P { int v = 4; }")
        self.assertEqual(self.ok("twice(a) + new P().v").text, "24")
        self.ok("a = 3;")
        self.assertEqual(self.ok("a").text, "3")

    def test_several_lines_print_and_give_the_last_value(self):
        run = self.ok('System.out.println("Hello");\nint r = 2 + 2;\nSystem.out.println("r = " + r);\nr')
        self.assertEqual((run.stdout, run.text), ("Hello\nr = 4\n", "4"))

    def test_errors(self):
        run = self.cell("nobody + 1")
        self.assertEqual(run.error["name"], "CompilationError")
        self.assertNotIn("location", run.error["value"] + run.traceback)
        run = self.cell("int x = ;")
        self.assertEqual(run.error["name"], "CompilationError")
        self.assertIn("int x = ;\n        ^", run.traceback)
        run = self.cell('throw new IllegalStateException("no");')
        self.assertEqual(run.error["name"], "EvalException")
        self.assertEqual(run.error["value"], "java.lang.IllegalStateException: no")
        self.assertEqual(run.error["traceback"][0], run.error["value"])
        self.assertEqual(self.cell("missing").error["name"], "CompilationError")

    def test_interrupts(self):
        self.ok("int kept = 1;")
        run = self.interrupt('System.out.println("begun"); while (true) {}', "begun")
        self.assertEqual(run.error["name"], "KeyboardInterrupt")
        self.assertEqual(self.ok("kept").text, "1")

    def test_variables_of_one_run(self):
        self.assertEqual(self.ok('System.getProperty("ONCE") + System.getenv("GREETING")', {"ONCE": "x"}).text, '"xhello"')
        self.assertEqual(self.ok('System.getProperty("ONCE")').text, "null")


@needs("go")
class Go(LanguageTest):
    language = "go"

    def test_a_whole_program(self):
        run = self.ok('package main\nimport "fmt"\nfunc main() {\n\tfmt.Println("3 + 4 =", 3+4)\n}')
        self.assertEqual(run.stdout, "3 + 4 = 7\n")

    def test_declarations_last(self):
        self.ok("x := 10\nfunc f(n int) int { return n * x }\ntype P struct{ A int }\nfunc (p P) Get() int { return p.A }")
        self.assertEqual(self.ok("f(3) + P{4}.Get()").text, "34")
        self.ok("func f(n int) int { return n }")
        self.assertEqual(self.ok("f(3)").text, "3")

    def test_imports_are_made_when_needed(self):
        self.assertEqual(self.ok('strings.ToUpper("q")').text, '"Q"')
        self.ok('import str "strings"')
        self.assertEqual(self.ok('fmt.Println(str.Repeat("a", 3))').stdout, "aaa\n")

    def test_errors(self):
        run = self.cell("y := 1\nz := y + \"s\"")
        self.assertEqual(run.error["name"], "CompileError")
        self.assertIn("cell.go:2", run.traceback)
        run = self.cell('panic("no")')
        self.assertEqual((run.error["name"], run.error["value"]), ("ExitStatus", "2"))
        self.assertIn("panic: no", run.stderr)
        self.assertEqual(self.cell("y").error["name"], "CompileError", "a cell that failed declares nothing")

    def test_interrupts(self):
        run = self.interrupt('fmt.Println("begun")\nfor {}', "begun")
        self.assertEqual(run.error["name"], "KeyboardInterrupt")

    def test_variables_of_one_run(self):
        self.assertEqual(self.ok('os.Getenv("ONCE") + os.Getenv("GREETING")', {"ONCE": "x"}).text, '"xhello"')


@needs("r")
class R(LanguageTest):
    language = "r"

    def test_variables_and_functions_last(self):
        self.assertEqual(self.ok("x <- c(1, 2, 3); f <- function(n) n * 2").results, [])
        self.assertEqual(self.ok("f(sum(x))").text, "[1] 12")
        self.assertEqual(self.ok("x <- 5").results, [], "an assignment shows nothing")

    def test_values_before_the_last_are_printed(self):
        run = self.ok("1\ncat('out\\n')\ninvisible(3)\ndata.frame(a = 1:2)")
        self.assertEqual((run.stdout, run.text), ("[1] 1\nout\n", "  a\n1 1\n2 2"))

    def test_text_of_any_kind(self):
        self.assertEqual(self.ok('"ä \\" 漢\\t"').text, '[1] "ä \\" 漢\\t"')

    def test_warnings_and_messages(self):
        run = self.ok('warning("careful"); message("note"); as.integer("x")')
        self.assertIn("careful", run.stderr)
        self.assertIn("note\n", run.stderr)
        self.assertIn("NAs introduced by coercion", run.stderr)

    def test_errors(self):
        run = self.cell('f <- function(a) stop("bad ", a)\nf(2)')
        self.assertEqual((run.error["name"], run.error["value"]), ("Error", "bad 2"))
        self.assertEqual(run.error["traceback"], ["Error in f(2) : bad 2", "  f(2)"])
        self.assertEqual(self.cell("x <- (1 +").error["name"], "SyntaxError")
        self.assertEqual(self.cell("missing_name").error["value"], "object 'missing_name' not found")
        self.assertEqual(self.ok("1").text, "[1] 1")

    def test_plots_are_pictures(self):
        run = self.ok("plot(1:3); lines(3:1); hist(c(1, 2, 2)); invisible(1)")
        self.assertEqual(len(run.displays), 2, "one for each page")
        self.assertTrue(all(shown["image/png"].startswith("iVBORw0KGgo") for shown in run.displays))
        self.assertEqual(self.ok("2").displays, [])

    def test_interrupts(self):
        self.ok("kept <- 1")
        run = self.interrupt('cat("begun\\n"); repeat {}', "begun")
        self.assertEqual(run.error["name"], "KeyboardInterrupt")
        run = self.interrupt('cat("begun\\n"); Sys.sleep(60)', "begun")
        self.assertEqual(run.error["name"], "KeyboardInterrupt")
        self.assertEqual(self.ok("kept").text, "[1] 1")

    def test_variables_of_one_run(self):
        self.assertEqual(self.ok('paste0(Sys.getenv("ONCE"), Sys.getenv("GREETING"))', {"ONCE": "x y"}).text, '[1] "x yhello"')
        self.assertEqual(self.ok('Sys.getenv("ONCE")').text, '[1] ""')

    def test_leaving_ends_the_context(self):
        self.engine.send(2, {"code": "quit(status = 4)"})
        _, status = os.waitpid(self.engine.pid, 0)
        self.engine.pid = None
        self.assertEqual(os.waitstatus_to_exitcode(status), 4)


if __name__ == "__main__":
    unittest.main()
