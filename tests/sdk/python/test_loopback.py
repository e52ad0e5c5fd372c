"""The first minute: no configuration, no account, and the first example of the README."""

import os
import re
import subprocess
import sys

import pytest
from openai import OpenAI
from programs import ROOT, Sandgate
from words import AUTO, OUTPUTS, calls, kinds, logs

FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}) *python\n(?P<code>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def loopback():
    gate = Sandgate()
    yield gate
    gate.end()


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
def test_code_in_the_message_is_run(loopback, strict):
    client = OpenAI(base_url=f"{loopback.url}/v1", api_key="none", _strict_response_validation=strict)
    question = "```python\nprint(6 * 7)\nopen('/mnt/data/a.txt', 'w').write('x')\n```"
    fields = {"model": "loopback", "input": question, "tools": [AUTO], "include": [OUTPUTS]}
    response = client.responses.create(**fields)
    assert kinds(response.output) == ["code_interpreter_call", "message"]
    assert logs(response).startswith("42\n") and "42" in response.output_text
    (citation,) = response.output[-1].content[0].annotations
    content = client.containers.files.content.retrieve(citation.file_id, container_id=citation.container_id)
    assert content.read() == b"x"
    with client.responses.stream(**fields) as stream:
        final = stream.until_done().get_final_response()
    assert logs(final) == logs(response) and len(calls(final)) == 1
    assert [model.id for model in client.models.list()] == ["loopback"]


def test_the_first_example_of_the_readme(loopback, tmp_path):
    examples = [found["code"] for found in FENCE.finditer((ROOT / "README.md").read_text())]
    assert examples, "the README has no Python example"
    example, changed = re.subn(r"http://(localhost|127\.0\.0\.1):4000", loopback.url, examples[0])
    assert "responses.create" in example and "code_interpreter" in example
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    if not changed:
        env["OPENAI_BASE_URL"] = f"{loopback.url}/v1"
    ran = subprocess.run(
        [sys.executable, "-c", example], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
