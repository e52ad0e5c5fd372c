"""The operator's own check passes on a server as it comes, and fails by name where a layer is missing."""

import os
import subprocess
import sys

import pytest
from openai import OpenAI
from programs import ROOT, Sandgate

MASTER = "sg-master-of-the-operator-check"


def check(url, *arguments, key="none"):
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    env |= {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": key, "PYTHONDONTWRITEBYTECODE": "1"}
    script = ROOT / "scripts" / "operator-check"
    return subprocess.run([sys.executable, script, *arguments], env=env, capture_output=True, text=True)


@pytest.fixture(scope="module", params=["open", "keyed"])
def server(request):
    key = MASTER if request.param == "keyed" else None
    gate = Sandgate(f"master_key: {key}\n" if key else None)
    yield gate, key or "none"
    gate.end()


def test_every_layer_holds_and_nothing_is_left(server):
    gate, key = server
    ran = check(gate.url, key=key)
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [line[:3] for line in lines] == [f"✓ {number}" for number in range(1, 6)], ran.stdout
    client = OpenAI(base_url=f"{gate.url}/v1", api_key=key)
    assert list(client.containers.list()) == []


def test_the_first_layer_that_does_not_hold_is_named(server):
    gate, key = server
    nobody = check("http://127.0.0.1:9", key=key)
    assert nobody.returncode == 1 and nobody.stdout.startswith("✗ 1 sandbox: "), nobody.stdout
    if key != "none":
        stranger = check(gate.url, key="sg-wrong")
        assert stranger.returncode == 1, stranger.stdout
        assert stranger.stdout.startswith("✗ 1 sandbox: /v1/execute answers 401"), stranger.stdout


def test_a_model_that_runs_nothing_fails_the_third_layer(model, script, gate):
    script(*[{"items": [{"text": "I would rather not."}]}] * 2)
    ran = check(gate.url, "--model", "gpt-5.6-sol", key=script.key)
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-1] == "✗ 3 explicit: the model ran no code", ran.stdout
