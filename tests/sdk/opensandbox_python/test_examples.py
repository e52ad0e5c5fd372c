"""What the code interpreter's own pages show, each as it is there but for domain and key."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from code_interpreter import SupportedLanguage
from makes import context_in, texts
from opensandbox.models.execd import ExecutionHandlers

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).parent / "examples"


def run(name):
    """One program, as a user would start it in a shell."""
    wanted = ("PATH", "HOME", "LANG")
    env = {name: value for name, value in os.environ.items() if name in wanted or name.startswith("OPEN_SANDBOX_")}
    program = [sys.executable, FOLDER / f"{name}.py"]
    ended = subprocess.run(program, env=env, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_quick_start():
    assert run("quick_start") == "4\n"


def test_the_quick_start_without_waiting():
    assert run("quick_start_sync") == "4\n"


def test_a_loop_that_reads_runs_and_prints():
    assert run("older_entrypoint") == "42\n42\nNameError name 'y' is not defined\n"


async def test_the_default_context_of_a_language(codes):
    execution = await codes.run("result = 2 + 2\nresult", language=SupportedLanguage.PYTHON)
    assert execution.result and execution.result[0].text == "4"
    await codes.run("x = 42", language=SupportedLanguage.PYTHON)
    execution = await codes.run("result = x\nresult", language=SupportedLanguage.PYTHON)
    assert execution.result and execution.result[0].text == "42"


async def test_java(codes):
    context = await context_in(codes, SupportedLanguage.JAVA)
    execution = await codes.run(
        'System.out.println("Calculating sum...");\n'
        "int a = 10;\n"
        "int b = 20;\n"
        "int sum = a + b;\n"
        'System.out.println("Sum: " + sum);\n'
        "sum",
        context=context,
    )
    assert execution.id and execution.error is None
    assert "".join(texts(execution.logs.stdout)).split("\n")[:2] == ["Calculating sum...", "Sum: 30"]
    assert execution.result[0].text == "30"


async def test_python_with_state(codes):
    context = await codes.create_context(SupportedLanguage.PYTHON)
    await codes.run("users = ['Alice', 'Bob', 'Charlie']\nprint(len(users))", context=context)
    result = await codes.run("users.append('Dave')\nprint(users)\nresult = users\nresult", context=context)
    assert result.result[0].text == "['Alice', 'Bob', 'Charlie', 'Dave']"


async def test_output_as_it_comes(codes):
    heard = []

    async def on_stdout(message):
        heard.append(("STDOUT", message.text))

    async def on_stderr(message):
        heard.append(("STDERR", message.text))

    handlers = ExecutionHandlers(on_stdout=on_stdout, on_stderr=on_stderr)
    context = await codes.create_context(SupportedLanguage.PYTHON)
    code = "import time\nfor i in range(5):\n    print(i)\n    time.sleep(0.5)"
    await codes.run(code, context=context, handlers=handlers)
    assert "".join(text for _, text in heard) == "0\n1\n2\n3\n4\n"
    assert len(heard) > 1, "not all at the end"


async def test_languages_are_kept_apart(codes):
    python = await codes.create_context(SupportedLanguage.PYTHON)
    go = await context_in(codes, SupportedLanguage.GO)
    said = await codes.run("print('Running in Python')", context=python)
    assert said.text == "Running in Python"
    said = await codes.run('package main\nfunc main() { println("Running in Go") }', context=go)
    assert "Running in Go" in "".join(texts(said.logs.stdout) + texts(said.logs.stderr))


async def test_typescript(codes):
    context = await context_in(codes, SupportedLanguage.TYPESCRIPT)
    said = await codes.run("const greet = (name: string): string => `hi ${name}`;\nconsole.log(greet('you'))", context=context)
    assert said.error is None and "".join(texts(said.logs.stdout)) == "hi you\n"


async def test_an_error_is_looked_at(codes):
    execution = await codes.run("raise ValueError('no')", language=SupportedLanguage.PYTHON)
    assert (execution.error.name, execution.error.value) == ("ValueError", "no") and execution.error.traceback
