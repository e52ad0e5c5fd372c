"""What all tests share: one server, a key for each test, and sandboxes that end with their test."""

import importlib.util
import os
import secrets

import outside
import pytest
import reports
from programs import Sandgate

# Each set of packages has its own tests.
HAS_LITELLM = importlib.util.find_spec("litellm") is not None
ALL = [name for name in os.listdir(os.path.dirname(__file__)) if name.startswith("test_")]
collect_ignore = [name for name in ALL if (name == "test_litellm.py") != HAS_LITELLM]


def pytest_configure(config):
    """One server for all workers: the first process starts it, the workers inherit where it is."""
    config.pluginmanager.register(reports.Reports(config), "sandgate-reports")
    if hasattr(config, "workerinput"):
        return
    config.sandgate = Sandgate("pool: 2\n" + outside.NETWORK)
    for name in [name for name in os.environ if name.startswith(("OPEN_SANDBOX_", "OPENSANDBOX_"))]:
        del os.environ[name]
    os.environ["SANDGATE_URL"] = config.sandgate.url
    os.environ["OPEN_SANDBOX_DOMAIN"] = config.sandgate.url.removeprefix("http://")
    # The map of prices that LiteLLM fetches from afar is in its package, too.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


def pytest_unconfigure(config):
    if hasattr(config, "sandgate"):
        config.sandgate.end()


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def url():
    return os.environ["SANDGATE_URL"]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """Of this test alone: nobody else's sandboxes are in its lists."""
    key = f"osb-{secrets.token_hex(20)}"
    monkeypatch.setenv("OPEN_SANDBOX_API_KEY", key)
    return key


@pytest.fixture(params=["direct", "proxy"])
def config(request):
    """How a client is told where the server is; both ways into a sandbox."""
    from opensandbox.config import ConnectionConfig

    return ConnectionConfig(use_server_proxy=request.param == "proxy")


@pytest.fixture
async def sandbox(config):
    from makes import made

    async with made(config) as sandbox:
        yield sandbox


@pytest.fixture
async def codes(sandbox):
    from code_interpreter import CodeInterpreter

    interpreter = await CodeInterpreter.create(sandbox=sandbox)
    yield interpreter.codes
    await interpreter.aclose()
