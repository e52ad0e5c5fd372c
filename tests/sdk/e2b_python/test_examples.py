"""The programs that people begin with, run as they are: only the environment is set."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import published
import pytest
import ways
from programs import TARGET

FOLDER = Path(__file__).parent / "examples"


# Only where names of a domain have to be known first.
WITH_NAMES = "import runpy, sys, ways\nways.know_the_domain()\nrunpy.run_path(sys.argv[1], run_name='__main__')"


def run(name):
    return run_file(FOLDER / f"{name}.py")


def run_file(file):
    """One program, as a user would start it in a shell after the one-line switch."""
    wanted = ("PATH", "HOME", "LANG", "SSL_CERT_FILE")
    env = {name: value for name, value in os.environ.items() if name in wanted or name.startswith("E2B_")}
    program = [file]
    if not ways.one_port_is_enough():
        program = ["-c", WITH_NAMES, *program]
        env["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    ended = subprocess.run([sys.executable, *program], env=env, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


# Names volumes and secrets, and waits where no program can.
BINDS = "Bind the configuration to a client"
PUBLISHED = [
    (package, title, code)
    for package in ("e2b", "e2b-code-interpreter")
    for title, code in published.examples(package).items()
    if not title.endswith(BINDS)
]


@pytest.mark.parametrize("code", [pytest.param(code, id=f"{package}: {title}") for package, title, code in PUBLISHED])
def test_what_the_packages_show_prints_what_they_say(code, tmp_path):
    (said,) = re.findall(r"print\(.*\)\s+# (?:outputs )?(.*)", code)
    file = tmp_path / "example.py"
    file.write_text(code)
    assert run_file(file).strip() == said


def test_both_packages_show_something():
    assert {package for package, _, _ in PUBLISHED} == {"e2b", "e2b-code-interpreter"}


def test_the_quick_start():
    said = run("quick_start")
    assert "hello world" in said
    assert "home" in said and "EntryInfo" in said


def test_the_quick_start_of_the_code_interpreter():
    assert run("quick_start_code") == "2\n"


def test_the_quick_start_without_waiting():
    assert run("quick_start_async") == "2\n"


def test_a_sandbox_with_a_timeout():
    assert run("timeout") == "True\n3 True\n"


def test_code_in_three_languages():
    assert run("languages") == "2\n2\nhello\n"


def test_files_up_and_down():
    assert run("files") == "a,b\n1,2\n 3\n['data.csv']\n"


def test_a_list_of_all_sandboxes():
    assert run("listing") == "2 True\n"


def test_a_query_by_metadata():
    assert run("metadata") == "['alice'] 1\n"


def test_joining_again():
    assert run("reconnect") == "42\n"


def test_a_kill():
    assert run("kill") == "True False False\n"


def test_results_with_a_picture_as_json():
    whole = json.loads(run("results"))
    (result,) = whole["results"]
    assert base64.b64decode(result["png"]).startswith(b"\x89PNG")
    assert result["chart"]["type"] == "bar" and json.loads(whole["logs"])["stdout"] == ["drawn\n"]


def test_the_function_that_a_model_calls():
    """The loop of E2B with OpenAI's tools: the model's words are played, the code is run."""
    assert run("tool_call") == "5050\n"


def test_the_switch_is_printed_by_the_program(tmp_path):
    program = [TARGET / "debug" / "sandgate", "env", "e2b"]
    home = tmp_path / "home"
    env = {**os.environ, "SANDGATE_HOME": str(home)}
    printed = subprocess.run(program, env=env, capture_output=True, text=True, timeout=60, check=True).stdout
    assert not home.exists(), "who only asks makes nothing"
    for name in ("E2B_API_URL", "E2B_SANDBOX_URL"):
        assert f"{name}=" in printed
    assert "/e2b" in printed
