"""What all tests share: one server, a key for each test, and both clients behind the same words."""

import contextlib
import os
import secrets

import pytest
import reports
import ways
from both import SDKS
from keyed import ServerWithKeys
from waiting import reason_to_wait


def pytest_configure(config):
    """One server for all workers: the first process starts it, the workers inherit where it is."""
    config.pluginmanager.register(reports.Reports(config), "sandgate-reports")
    if not ways.one_port_is_enough():
        ways.know_the_domain()
    if hasattr(config, "workerinput"):
        return
    config.sandgate, variables = ways.on_one_port() if ways.one_port_is_enough() else ways.at_a_domain()
    ways.set_environment({**variables, "SANDGATE_URL": config.sandgate.url})


def pytest_unconfigure(config):
    if hasattr(config, "sandgate"):
        config.sandgate.end()


def pytest_collection_modifyitems(items):
    """A test that waits for a part of the server runs all the same, and must not pass unnoticed."""
    for item in items:
        if reason := reason_to_wait(item):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def url():
    """Where the server is, without the prefix of E2B."""
    return os.environ["SANDGATE_URL"]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """Of this test alone: nobody else's sandboxes are in its lists."""
    key = f"e2b_{secrets.token_hex(20)}"
    monkeypatch.setenv("E2B_API_KEY", key)
    return key


@pytest.fixture(scope="session")
def keyed():
    server = ServerWithKeys()
    yield server
    server.end()


@pytest.fixture(params=["sync", "async"])
def sdk(request):
    """`sdk.Sandbox` of the code interpreter and `sdk.BaseSandbox`, to be awaited in both ways."""
    return SDKS[request.param]


@pytest.fixture
async def sandbox(sdk):
    async with made(sdk) as sandbox:
        yield sandbox


@pytest.fixture
def make(sdk):
    """Makes sandboxes that end with their block: `async with make(timeout=60) as sandbox`."""
    return lambda **options: made(sdk, **options)


@contextlib.asynccontextmanager
async def made(sdk, **options):
    sandbox = await sdk.Sandbox.create(**{"timeout": 300, **options})
    try:
        yield sandbox
    finally:
        await sandbox.kill()
