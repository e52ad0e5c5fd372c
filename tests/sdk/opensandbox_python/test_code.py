"""Code in contexts, as `opensandbox-code-interpreter` runs it."""

import asyncio

import pytest
from code_interpreter import CodeInterpreterSync, SupportedLanguage
from makes import ENTRYPOINT, IMAGE, context_in, made, texts, until
from opensandbox import SandboxSync
from opensandbox.config import ConnectionConfigSync
from opensandbox.exceptions import SandboxException
from opensandbox.models.execd import ExecutionHandlers

pytestmark = pytest.mark.anyio
PYTHON = SupportedLanguage.PYTHON

# In each language: something defined, then something that uses it, and what that gives.
CELLS = {
    SupportedLanguage.PYTHON: ("x = 20", "x + 22", "42"),
    SupportedLanguage.JAVASCRIPT: ("const x = 20", "x + 22", "42"),
    SupportedLanguage.TYPESCRIPT: ("const x: number = 20", "x + 22", "42"),
    SupportedLanguage.JAVA: ("int x = 20;", "x + 22", "42"),
}
PRINTS = {
    SupportedLanguage.BASH: ("x=20; cd /tmp", 'echo "$((x + 22)) $PWD"', "42 /tmp"),
    SupportedLanguage.GO: ("x := 20", 'import "fmt"\nfmt.Println(x + 22)', "42"),
}


async def test_the_value_of_the_last_line_and_what_was_printed(codes):
    context = await codes.create_context(PYTHON)
    execution = await codes.run("import sys\nprint('hi')\nprint('oh', file=sys.stderr)\n2 + 2", context=context)
    assert execution.id == context.id
    assert [result.text for result in execution.result] == ["4"]
    assert "".join(texts(execution.logs.stdout)) == "hi\n"
    assert "".join(texts(execution.logs.stderr)) == "oh\n"
    assert execution.execution_count == 1
    assert execution.error is None and execution.complete.execution_time_in_millis >= 1


async def test_letters_that_python_takes_for_ends_of_lines(codes):
    text = "a\x85b\u2028c\u2029d\x0be žluť 😀"
    execution = await codes.run(f"print({text!r})\n{text!r}")
    assert "".join(texts(execution.logs.stdout)) == text + "\n"
    assert execution.result[0].text == repr(text)


async def test_the_default_context_keeps_its_state(codes):
    await codes.run("x = 42", language=PYTHON)
    assert (await codes.run("x", language=PYTHON)).result[0].text == "42"
    own = await codes.create_context(PYTHON)
    execution = await codes.run("x", context=own)
    assert execution.error.name == "NameError", "a context of its own does not know it"


async def test_contexts_are_listed_found_and_removed(codes):
    made = [await codes.create_context(PYTHON) for _ in range(2)]
    assert {context.id for context in made} <= {context.id for context in await codes.list_contexts(PYTHON)}
    assert (await codes.get_context(made[0].id)).language == PYTHON
    await codes.delete_context(made[0].id)
    with pytest.raises(SandboxException):
        await codes.get_context(made[0].id)
    with pytest.raises(SandboxException):
        await codes.delete_context(made[0].id)
    await codes.delete_contexts(PYTHON)
    assert await codes.list_contexts(PYTHON) == []


async def test_an_error_has_a_name_a_value_and_a_traceback(codes):
    execution = await codes.run("def f():\n    return 1/0\nf()")
    assert (execution.error.name, execution.error.value) == ("ZeroDivisionError", "division by zero")
    assert any("return 1/0" in line for line in execution.error.traceback)
    assert execution.complete is None


async def test_events_come_while_the_code_runs(codes):
    heard, release = [], asyncio.Event()

    async def on_init(init):
        heard.append(("init", bool(init.id)))

    async def on_stdout(message):
        heard.append(("stdout", message.text))
        release.set()

    async def on_complete(_):
        heard.append(("complete", True))

    handlers = ExecutionHandlers(on_init=on_init, on_stdout=on_stdout, on_execution_complete=on_complete)
    context = await codes.create_context(PYTHON)
    code = "print('first', flush=True)\nimport os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('last')"
    running = asyncio.create_task(codes.run(code, context=context, handlers=handlers))
    await asyncio.wait_for(release.wait(), 60)
    assert heard[:2] == [("init", True), ("stdout", "first\n")] and not running.done()
    await codes.run("open('go', 'w').close()", language=PYTHON)
    await running
    assert heard[2:] == [("stdout", "last\n"), ("complete", True)]


async def test_running_code_is_interrupted_by_the_id_of_its_context(codes):
    begun, context = asyncio.Event(), await codes.create_context(PYTHON)

    async def on_stdout(_):
        begun.set()

    code = "x = 1\nprint('up', flush=True)\nimport time\ntime.sleep(600)"
    running = asyncio.create_task(
        codes.run(code, context=context, handlers=ExecutionHandlers(on_stdout=on_stdout))
    )
    await asyncio.wait_for(begun.wait(), 60)
    await codes.interrupt(context.id)
    execution = await asyncio.wait_for(running, 60)
    assert execution.error.name == "KeyboardInterrupt"
    assert (await codes.run("x", context=context)).result[0].text == "1", "its state is kept"
    with pytest.raises(SandboxException):
        await codes.interrupt("no-such-context")


async def test_a_context_runs_one_thing_at_a_time(codes):
    begun, context = asyncio.Event(), await codes.create_context(PYTHON)

    async def on_init(_):
        begun.set()

    first = asyncio.create_task(
        codes.run("import time\ntime.sleep(600)", context=context, handlers=ExecutionHandlers(on_init=on_init))
    )
    await asyncio.wait_for(begun.wait(), 60)
    second = await codes.run("1", context=context)
    assert second.error.value == "error running codes session is busy"

    async def interrupted():
        await codes.interrupt(context.id)
        return first.done()

    await until(interrupted)


async def test_two_contexts_run_side_by_side(codes):
    one, other = [await codes.create_context(PYTHON) for _ in range(2)]
    wait = "import os, time\nopen('{}', 'w').close()\nwhile not os.path.exists('{}'): time.sleep(0.01)\n'met'"
    both = await asyncio.wait_for(
        asyncio.gather(
            codes.run(wait.format("a", "b"), context=one), codes.run(wait.format("b", "a"), context=other)
        ),
        60,
    )
    assert [execution.result[0].text for execution in both] == ["'met'", "'met'"]


@pytest.mark.parametrize("language", CELLS)
async def test_a_value_in_each_language(codes, language):
    context = await context_in(codes, language)
    first, second, value = CELLS[language]
    assert (await codes.run(first, context=context)).error is None
    execution = await codes.run(second, context=context)
    assert execution.error is None
    assert [result.text for result in execution.result] == [value]


@pytest.mark.parametrize("language", PRINTS)
async def test_what_is_printed_in_each_language(codes, language):
    context = await context_in(codes, language)
    first, second, printed = PRINTS[language]
    assert (await codes.run(first, context=context)).error is None
    execution = await codes.run(second, context=context)
    assert execution.error is None
    assert "".join(texts(execution.logs.stdout)).strip() == printed


async def test_a_language_that_is_not_there_is_said_at_once(codes):
    with pytest.raises(SandboxException, match="cobol"):
        await codes.create_context("cobol")
    with pytest.raises(SandboxException, match="cobol"):
        await codes.run("DISPLAY 'HI'", language="cobol")


async def test_the_variables_of_a_sandbox_are_those_of_its_code(config):
    from code_interpreter import CodeInterpreter

    async with made(config, env={"GREETING": "hello"}) as sandbox:
        interpreter = await CodeInterpreter.create(sandbox=sandbox)
        execution = await interpreter.codes.run("import os\nos.environ['GREETING']")
        assert execution.result[0].text == "'hello'"


def test_without_waiting():
    config = ConnectionConfigSync()
    sandbox = SandboxSync.create(IMAGE, entrypoint=ENTRYPOINT, connection_config=config)
    with sandbox:
        interpreter = CodeInterpreterSync.create(sandbox=sandbox)
        context = interpreter.codes.create_context(PYTHON)
        interpreter.codes.run("x = 20", context=context)
        assert interpreter.codes.run("x + 22", context=context).result[0].text == "42"
        assert sandbox.commands.run("echo hi").text == "hi"
        sandbox.kill()
