"""run_code: results, output in true time, errors, state."""

import asyncio
import base64
import json

import pytest
from e2b import TimeoutException
from words import LONG

pytestmark = pytest.mark.anyio


async def test_the_last_expression_is_the_result(sandbox):
    run = await sandbox.run_code("x = 1\nx + 1")
    assert run.text == "2" and run.error is None and run.execution_count == 1
    assert [result.is_main_result for result in run.results] == [True]
    assert (await sandbox.run_code("x = x + 1\nx")).text == "2"
    assert (await sandbox.run_code("y = 5")).text is None


async def test_one_print_is_one_message(sandbox):
    run = await sandbox.run_code("import sys\nprint('Hello', 'ž')\nprint('wrong', file=sys.stderr)")
    assert run.logs.stdout == ["Hello ž\n"] and run.logs.stderr == ["wrong\n"]


async def test_output_comes_while_the_code_runs(sandbox):
    """The code waits for a file that is only made after its first line was seen."""
    code = """
import os, time
print('first', flush=True)
while not os.path.exists('/home/user/go'):
    time.sleep(0.05)
print('second')
"""
    seen = asyncio.Event()
    loop = asyncio.get_running_loop()
    lines = []

    def on_stdout(message):
        assert message.timestamp and not message.error
        lines.append(message.line)
        loop.call_soon_threadsafe(seen.set)

    running = asyncio.create_task(sandbox.run_code(code, on_stdout=on_stdout, timeout=LONG))
    await asyncio.wait_for(seen.wait(), LONG)
    assert not running.done()
    await sandbox.files.write("/home/user/go", "")
    run = await running
    assert run.error is None and "".join(lines) == "first\nsecond\n"


async def test_each_callback_hears_its_own(sandbox):
    heard = {"out": [], "err": [], "results": [], "errors": []}
    code = "import sys\nprint('o')\nprint('e', file=sys.stderr)\ndisplay('shown')\n1 / 0"
    run = await sandbox.run_code(
        code,
        on_stdout=lambda message: heard["out"].append(message.line),
        on_stderr=lambda message: heard["err"].append((message.line, message.error)),
        on_result=lambda result: heard["results"].append(result.text),
        on_error=lambda error: heard["errors"].append(error.name),
    )
    assert heard == {
        "out": ["o\n"],
        "err": [("e\n", True)],
        "results": ["shown"],
        "errors": ["ZeroDivisionError"],
    }
    assert run.error.name == "ZeroDivisionError"


async def test_an_error_has_name_value_and_a_plain_traceback(sandbox):
    run = await sandbox.run_code("def f():\n    raise ValueError('no ž')\nf()")
    assert (run.error.name, run.error.value) == ("ValueError", "no ž")
    assert "raise ValueError" in run.error.traceback and "\x1b" not in run.error.traceback
    assert (await sandbox.run_code("6 * 7")).text == "42"


async def test_a_syntax_error_is_an_error_of_the_code(sandbox):
    run = await sandbox.run_code("x = = 1")
    assert run.error.name == "SyntaxError"


async def test_indentation_await_and_shell_lines_are_understood(sandbox):
    assert (await sandbox.run_code("    x = 3\n    x")).text == "3"
    run = await sandbox.run_code("import asyncio\nawait asyncio.sleep(0)\n'awaited'")
    assert run.text == "awaited"
    assert (await sandbox.run_code("!echo shell")).logs.stdout == ["shell\n"]


async def test_environment_of_one_run_is_gone_after_it(make):
    async with make(envs={"FOO": "sandbox"}) as sandbox:
        look = "import os; (os.getenv('FOO'), os.getenv('BAR'))"
        assert (await sandbox.run_code(look)).text == "('sandbox', None)"
        assert (await sandbox.run_code(look, envs={"FOO": "run", "BAR": "b"})).text == "('run', 'b')"
        assert (await sandbox.run_code(look)).text == "('sandbox', None)"


async def test_code_starts_in_the_home_of_its_user(sandbox):
    run = await sandbox.run_code("import os; (os.getcwd(), os.path.expanduser('~'))")
    assert run.text == "('/home/user', '/home/user')"


@pytest.mark.parametrize(
    ("format", "shown"),
    [
        ("html", "HTML('<b>x</b>')"),
        ("markdown", "Markdown('# x')"),
        ("svg", "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>')"),
        ("latex", "Latex(r'$x$')"),
        ("json", "JSON({'a': [1]})"),
        ("javascript", "Javascript('1')"),
    ],
)
async def test_each_way_to_show_has_its_format(sandbox, format, shown):
    run = await sandbox.run_code(f"from IPython.display import *\n{shown}")
    assert run.error is None
    assert format in list(run.results[0].formats()) and run.results[0][format]


async def test_a_type_that_e2b_does_not_know_is_kept_as_extra(sandbox):
    run = await sandbox.run_code("display({'application/x-own': 'mine', 'text/plain': 'p'}, raw=True)")
    assert run.results[0].text == "p" and run.results[0].extra == {"application/x-own": "mine"}


async def test_dictionaries_come_as_json_too(sandbox):
    run = await sandbox.run_code("{'a': [1, 2], 'b': None}")
    assert run.results[0].json == {"a": [1, 2], "b": None}


async def test_a_data_frame_comes_with_its_data(sandbox):
    code = "import pandas as pd\npd.DataFrame({'a': [1, 2], 't': pd.to_datetime(['2024-01-01', '2024-01-02'])})"
    result = (await sandbox.run_code(code)).results[0]
    assert result.data["a"] == [1, 2] and result.data["t"][0].startswith("2024-01-01")
    assert "<table" in result.html and result.text


async def test_long_values_are_not_cut(sandbox):
    run = await sandbox.run_code("list(range(5000))")
    assert json.loads(run.text)[-1] == 4999


async def test_to_json_holds_all_that_was_said(sandbox):
    run = await sandbox.run_code("print('p')\n6 * 7")
    whole = json.loads(run.to_json())
    assert whole["results"] == [{"text": "42"}] and whole["error"] is None
    assert json.loads(whole["logs"]) == {"stdout": ["p\n"], "stderr": []}


async def test_a_picture_comes_as_png(sandbox):
    code = """
from PIL import Image
Image.new('RGB', (4, 4), 'red')
"""
    run = await sandbox.run_code(code)
    assert run.error is None
    assert base64.b64decode(run.results[0].png).startswith(b"\x89PNG")


async def test_a_client_that_gives_up_interrupts_the_code(sandbox):
    with pytest.raises(TimeoutException):
        await sandbox.run_code("import time\nwhile True: time.sleep(0.1)", timeout=2)
    # The kernel is free again, with its state.
    assert (await sandbox.run_code("1 + 1", timeout=LONG)).text == "2"


async def test_runs_of_one_context_wait_for_each_other(sandbox):
    await sandbox.run_code("seen = []")
    each = [f"import time\nseen.append('in')\ntime.sleep(0.05)\nseen.append('out')\n{number}" for number in range(5)]
    runs = await asyncio.gather(*map(sandbox.run_code, each))
    assert [run.text for run in runs] == ["0", "1", "2", "3", "4"]
    assert (await sandbox.run_code("seen == ['in', 'out'] * 5")).text == "True"


async def test_a_killed_kernel_is_told_and_replaced(sandbox):
    run = await sandbox.run_code("import os; os.kill(os.getpid(), 9)")
    assert run.error is not None
    assert (await sandbox.run_code("6 * 7")).text == "42"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "print('hi')"),
        ("javascript", "console.log('hi')"),
        ("typescript", "const hi: string = 'hi'; console.log(hi)"),
        ("bash", "echo hi"),
        ("r", "cat('hi\\n')"),
        ("java", 'System.out.println("hi");'),
    ],
    ids=["python", "javascript", "typescript", "bash", "r", "java"],
)
async def test_a_cell_in_each_language(sandbox, language, code):
    run = await sandbox.run_code(code, language=language)
    assert run.error is None and "".join(run.logs.stdout) == "hi\n"
