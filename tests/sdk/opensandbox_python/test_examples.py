"""What people write who begin with the code interpreter, beside what its package shows."""

from pathlib import Path

import published
import pytest
from code_interpreter import SupportedLanguage
from makes import context_in, texts

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).parent / "examples"


def run(name):
    return published.run_program((FOLDER / f"{name}.py").read_text(), "OPEN_SANDBOX_")


def test_a_loop_that_reads_runs_and_prints():
    assert run("older_entrypoint") == "42\n42\nNameError name 'y' is not defined\n"


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
