"""What all tests share: one server before one scripted model, and a client and a script for each test."""

import itertools

import pytest
from openai import OpenAI
from programs import Sandgate, ScriptedModel

_numbers = itertools.count()


class Script:
    """What the model says to one key, and what it was asked."""

    def __init__(self, model, key=None):
        self.model = model
        self.key = key or f"sk-sdk-{next(_numbers)}"
        self(*[])

    def __call__(self, *turns):
        self.model.ask("PUT", f"/_script/{self.key}", {"turns": list(turns)})

    def asked(self):
        """The bodies of the requests so far."""
        return [request["body"] for request in self.model.ask("GET", f"/_requests/{self.key}")]

    def was_left(self):
        """Whether the first request's client hung up before the model had said everything."""
        return self.model.ask("GET", f"/_requests/{self.key}")[0]["hung_up"]

    def check(self):
        assert self.model.ask("GET", f"/_violations/{self.key}") == []


@pytest.fixture(scope="session")
def model():
    model = ScriptedModel()
    yield model
    model.end()


@pytest.fixture(scope="session")
def gate(model):
    gate = Sandgate.before(model, "responses")
    yield gate
    gate.end()


@pytest.fixture(scope="session")
def chat_gate(model):
    """A server whose upstream has only Chat Completions."""
    gate = Sandgate.before(model, "chat")
    yield gate
    gate.end()


@pytest.fixture
def script(model):
    script = Script(model)
    yield script
    script.check()


@pytest.fixture
def scripts(model):
    """Makes as many as a test needs."""
    made = []

    def make():
        made.append(Script(model))
        return made[-1]

    yield make
    for script in made:
        script.check()


@pytest.fixture(params=["plain", "strict"])
def settings(request, gate, script):
    """Of a client; strict ones refuse all that does not fit the SDK's own types."""
    strict = request.param == "strict"
    return {
        "base_url": f"{gate.url}/v1",
        "api_key": script.key,
        "max_retries": 0,
        "timeout": 60,
        "_strict_response_validation": strict,
    }


@pytest.fixture
def client(settings):
    with OpenAI(**settings) as client:
        yield client


def pytest_terminal_summary(terminalreporter):
    """In the words that `cargo xtask test` counts."""
    number = {kind: len(terminalreporter.stats.get(kind, [])) for kind in ("passed", "failed", "error")}
    failed = number["failed"] + number["error"]
    verdict = "FAILED" if failed else "ok"
    terminalreporter.write_line(f"test result: {verdict}. {number['passed']} passed; {failed} failed")
