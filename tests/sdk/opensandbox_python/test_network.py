"""What a sandbox may reach, at its creation and later."""

import outside
import pytest
from makes import made, texts
from opensandbox.exceptions import SandboxException
from opensandbox.models.sandboxes import NetworkPolicy, NetworkRule

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def fetch():
    """A command that prints with which status a page outside is answered; 000: not at all."""
    with outside.served() as command:
        yield command


async def status(sandbox, fetch):
    ran = await sandbox.commands.run(f"{fetch} || true")
    return "".join(texts(ran.logs.stdout)).strip()


def policy(action):
    return NetworkPolicy(default_action="deny", egress=[NetworkRule(action=action, target=outside.ADDRESS)])


async def test_a_sandbox_reaches_what_its_policy_allows(config, fetch):
    async with made(config, network_policy=policy("allow")) as sandbox:
        assert await status(sandbox, fetch) == "200"
    async with made(config, network_policy=policy("deny")) as sandbox:
        assert await status(sandbox, fetch) in ("000", "403")
    async with made(config) as sandbox:
        assert await status(sandbox, fetch) == "000"


async def test_rules_are_changed_while_it_runs(config, fetch):
    async with made(config, network_policy=policy("allow")) as sandbox:
        assert await status(sandbox, fetch) == "200"
        await sandbox.patch_egress_rules([NetworkRule(action="deny", target=outside.ADDRESS)])
        assert await status(sandbox, fetch) == "403"
        await sandbox.patch_egress_rules([NetworkRule(action="allow", target=outside.ADDRESS)])
        assert await status(sandbox, fetch) == "200"
        told = await sandbox.get_egress_policy()
        assert (told.default_action, [(rule.action, rule.target) for rule in told.egress]) == (
            "deny",
            [("allow", outside.ADDRESS)],
        )
        await sandbox.delete_egress_rules([outside.ADDRESS])
        assert await status(sandbox, fetch) == "403"


async def test_more_than_the_operator_allows_is_refused(config, fetch):
    wide = NetworkPolicy(default_action="deny", egress=[NetworkRule(action="allow", target="127.93.7.3")])
    with pytest.raises(SandboxException, match="operator"):
        async with made(config, network_policy=wide):
            pass
    async with made(config, network_policy=policy("allow")) as sandbox:
        with pytest.raises(SandboxException, match="operator"):
            await sandbox.patch_egress_rules([NetworkRule(action="allow", target="127.93.7.3")])
        assert await status(sandbox, fetch) == "200"
