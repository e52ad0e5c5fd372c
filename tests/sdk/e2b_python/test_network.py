"""What a sandbox may reach."""

import outside
import pytest
from e2b import SandboxException

pytestmark = pytest.mark.anyio

EVERYTHING = "0.0.0.0/0"
OPENED = {"allow_out": [outside.ADDRESS], "deny_out": [EVERYTHING]}


@pytest.fixture(scope="module")
def fetch():
    """A command that prints with which status a page outside is answered; 000: not at all."""
    with outside.served() as command:
        yield command


async def status(sandbox, fetch):
    return (await sandbox.commands.run(f"{fetch} || true")).stdout


async def test_a_sandbox_without_the_internet_says_so(make, fetch):
    async with make(allow_internet_access=False) as sandbox:
        assert (await sandbox.get_info()).allow_internet_access is False
        assert await status(sandbox, fetch) == "000"


async def test_a_sandbox_reaches_what_it_is_allowed(make, fetch):
    async with make(network=OPENED) as sandbox:
        assert await status(sandbox, fetch) == "200"


async def test_rules_are_changed_while_it_runs(make, fetch):
    async with make(network=OPENED) as sandbox:
        assert await status(sandbox, fetch) == "200"
        await sandbox.update_network({"deny_out": [EVERYTHING]})
        assert await status(sandbox, fetch) == "403"
        await sandbox.update_network(OPENED)
        assert await status(sandbox, fetch) == "200"


async def test_a_sandbox_that_had_no_network_is_given_one(make, fetch):
    async with make() as sandbox:
        assert await status(sandbox, fetch) == "000"
        await sandbox.update_network(OPENED)
        assert await status(sandbox, fetch) == "200"


async def test_more_than_the_operator_allows_is_refused(sdk):
    with pytest.raises(SandboxException, match="operator"):
        network = {"allow_out": ["127.93.7.3"], "deny_out": [EVERYTHING]}
        sandbox = await sdk.Sandbox.create(timeout=60, network=network)
        await sandbox.kill()


async def test_a_domain_is_only_allowed_where_all_else_is_denied(sdk):
    with pytest.raises(SandboxException, match="400"):
        sandbox = await sdk.Sandbox.create(timeout=60, network={"allow_out": ["example.org"]})
        await sandbox.kill()
