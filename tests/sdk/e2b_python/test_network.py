"""What a sandbox may reach."""

import pytest
from e2b import SandboxException

pytestmark = pytest.mark.anyio

REACH = "timeout 3 bash -c '</dev/tcp/192.0.2.1/80' 2>/dev/null && echo reached || echo refused"


async def test_a_sandbox_without_the_internet_says_so(make):
    async with make(allow_internet_access=False) as sandbox:
        assert (await sandbox.get_info()).allow_internet_access is False
        assert (await sandbox.commands.run(REACH)).stdout == "refused\n"


async def test_rules_are_changed_while_it_runs(make):
    async with make() as sandbox:
        await sandbox.update_network({"deny_out": ["0.0.0.0/0"]})
        assert (await sandbox.commands.run(REACH)).stdout == "refused\n"


async def test_a_domain_is_only_allowed_where_all_else_is_denied(sdk):
    with pytest.raises(SandboxException, match="400"):
        sandbox = await sdk.Sandbox.create(timeout=60, network={"allow_out": ["example.org"]})
        await sandbox.kill()
