"""The life of a sandbox."""

import asyncio
from datetime import timedelta

import pytest
from makes import IMAGE, made, until
from opensandbox import AcquirePolicy, InMemoryAsyncPoolStateStore, PoolCreationSpec, Sandbox, SandboxPoolAsync
from opensandbox.config import ConnectionConfig
from opensandbox.exceptions import SandboxException
from opensandbox.manager import SandboxManager
from opensandbox.models.sandboxes import SandboxFilter

pytestmark = pytest.mark.anyio


async def test_a_sandbox_is_made_found_and_ended(config):
    async with made(config, metadata={"who": "alice"}, timeout=timedelta(minutes=5)) as sandbox:
        assert await sandbox.is_healthy()
        info = await sandbox.get_info()
        assert (info.id, info.status.state, info.metadata["who"]) == (sandbox.id, "Running", "alice")
        again = await Sandbox.connect(sandbox.id, connection_config=config)
        assert (await again.commands.run("echo hi")).text == "hi"
        renewed = await sandbox.renew(timedelta(minutes=20))
        assert renewed.expires_at > info.expires_at
        await sandbox.kill()
        with pytest.raises(SandboxException):
            await sandbox.get_info()
        with pytest.raises(SandboxException):
            await sandbox.commands.run("true")


async def test_a_paused_sandbox_goes_on_where_it_was(config):
    async with made(config) as sandbox:
        await sandbox.files.write_file("kept.txt", "kept")
        await sandbox.pause()
        assert (await sandbox.get_info()).status.state == "Paused"
        resumed = await Sandbox.resume(sandbox.id, connection_config=config)
        assert await resumed.files.read_file("kept.txt") == "kept"


async def test_sandboxes_are_listed_by_what_they_are_called():
    config = ConnectionConfig()
    async with made(config, metadata={"k": "1"}) as one, made(config, metadata={"k": "2"}):
        manager = await SandboxManager.create(connection_config=config)
        found = await manager.list_sandbox_infos(SandboxFilter(metadata={"k": "1"}))
        assert [info.id for info in found.sandbox_infos] == [one.id]
        assert len((await manager.list_sandbox_infos(SandboxFilter())).sandbox_infos) == 2


async def test_a_port_of_the_sandbox_is_reached(sandbox):
    import httpx
    from makes import until
    from opensandbox.models.execd import RunCommandOpts

    await sandbox.commands.run("python3 -m http.server 8123", opts=RunCommandOpts(background=True))
    endpoint = await sandbox.get_endpoint(8123)

    async def answer():
        async with httpx.AsyncClient() as client:
            got = await client.get(f"http://{endpoint.endpoint}/", headers=endpoint.headers or {})
        return got if got.status_code == 200 else None

    assert "Directory listing" in (await until(answer)).text


async def test_an_image_that_is_not_there_is_said():
    with pytest.raises(SandboxException, match="no/such-image"):
        await Sandbox.create("no/such-image:1", connection_config=ConnectionConfig())


async def test_another_key_sees_nothing(config):
    async with made(config) as sandbox:
        other = ConnectionConfig(api_key="somebody-else")
        with pytest.raises(SandboxException):
            await Sandbox.connect(sandbox.id, connection_config=other)


async def test_the_image_by_its_newest_name_and_many_at_once():
    config = ConnectionConfig()
    made = await asyncio.gather(*(Sandbox.create(IMAGE.split(":")[0] + ":latest", connection_config=config) for _ in range(4)))
    assert len({sandbox.id for sandbox in made}) == 4
    for sandbox in made:
        await sandbox.kill()
        await sandbox.close()


async def test_a_pool_of_the_sdk_is_filled_taken_from_and_emptied(config):
    pool = SandboxPoolAsync(
        pool_name="pool",
        owner_id="one",
        max_idle=1,
        state_store=InMemoryAsyncPoolStateStore(),
        connection_config=config,
        creation_spec=PoolCreationSpec(image="ubuntu:22.04"),
    )
    await pool.start()
    try:

        async def is_full():
            return (await pool.snapshot()).idle_count

        await until(is_full)
        sandbox = await pool.acquire(sandbox_timeout=timedelta(minutes=5), policy=AcquirePolicy.FAIL_FAST)
        assert (await sandbox.commands.run("echo pool-ok")).text == "pool-ok"
        await sandbox.destroy()
    finally:
        await pool.shutdown(graceful=True)


async def test_a_sandbox_is_restored_from_a_snapshot_with_files_and_variables(config):
    async with made(config, env={"KEPT": "yes"}) as sandbox:
        await sandbox.commands.run("echo before > ~/kept.txt")
        snapshot = await sandbox.create_snapshot(name="one")
        await sandbox.commands.run("echo after > ~/kept.txt")
        restored = await Sandbox.create(snapshot_id=snapshot.id, connection_config=config)
        try:
            said = await restored.commands.run("cat ~/kept.txt; echo $KEPT")
            assert said.text.split() == ["before", "yes"]
        finally:
            await restored.destroy()
