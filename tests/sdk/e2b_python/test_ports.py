"""Ports that programs open inside: reached from outside with the traffic token, and only with it."""

import pytest
from words import ask, until

pytestmark = pytest.mark.anyio

SERVER = "python3 -m http.server 8000 --directory /home/user"


async def through(url, sandbox, port, path="/", **headers):
    headers = {"E2b-Sandbox-Id": sandbox.sandbox_id, "E2b-Sandbox-Port": str(port), **headers}
    return await ask("GET", f"{url}/e2b{path}", headers=headers)


async def test_a_server_inside_is_reached_with_the_token(url, make):
    async with make(network={"allow_public_traffic": False}) as sandbox:
        await sandbox.files.write("page.txt", "from inside")
        await sandbox.commands.run(SERVER, background=True)
        token = {"E2B-Traffic-Access-Token": sandbox.traffic_access_token}

        async def answered():
            status, _, text = await through(url, sandbox, 8000, "/page.txt", **token)
            return status == 200 and text

        assert await until(answered) == b"from inside"
        status, _, said = await through(url, sandbox, 8000, "/page.txt")
        assert status == 403 and said["code"] == 403
        wrong = {"E2B-Traffic-Access-Token": "x" * len(sandbox.traffic_access_token)}
        status, _, _ = await through(url, sandbox, 8000, "/page.txt", **wrong)
        assert status == 403


async def test_a_port_that_nobody_listens_on_is_told(url, make):
    async with make(network={"allow_public_traffic": False}) as sandbox:
        token = {"E2B-Traffic-Access-Token": sandbox.traffic_access_token}
        status, _, said = await through(url, sandbox, 8001, **token)
        assert status == 502 and "port is not open" in said["message"]
        assert (said["sandboxId"], said["port"], said["code"]) == (sandbox.sandbox_id, 8001, 502)


async def test_the_host_of_a_port_names_port_and_sandbox(sandbox):
    assert sandbox.get_host(3000).startswith(f"3000-{sandbox.sandbox_id}.")
