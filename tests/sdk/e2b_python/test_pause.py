"""Pause and resume: a sandbox set aside, and its state when it comes back."""

import pytest
from e2b import SandboxQuery, SandboxState
from words import all_items, until

pytestmark = pytest.mark.anyio


async def test_a_paused_sandbox_keeps_its_state(sdk, make):
    async with make(metadata={"kind": "paused"}) as sandbox:
        await sandbox.run_code("x = 41")
        await sandbox.files.write("kept.txt", "kept")
        await sandbox.pause()
        assert await sandbox.is_running() is False
        assert (await sandbox.get_info()).state == SandboxState.PAUSED
        paused = await all_items(sdk.Sandbox.list(query=SandboxQuery(state=[SandboxState.PAUSED])))
        assert [one.sandbox_id for one in paused] == [sandbox.sandbox_id]
        assert await all_items(sdk.Sandbox.list(query=SandboxQuery(state=[SandboxState.RUNNING]))) == []

        again = await sdk.Sandbox.connect(sandbox.sandbox_id, timeout=120)
        assert (await again.get_info()).state == SandboxState.RUNNING
        assert await again.files.read("kept.txt") == "kept"
        assert (await again.run_code("x + 1")).text == "42"


async def test_a_background_command_is_there_after_a_pause(sdk, make):
    async with make() as sandbox:
        handle = await sandbox.commands.run("until [ -e go ]; do sleep 0.05; done; echo on > mark", background=True)
        await sandbox.pause()
        again = await sdk.Sandbox.connect(sandbox.sandbox_id, timeout=120)
        assert handle.pid in [one.pid for one in await again.commands.list()]
        await again.files.write("go", "")

        async def marked():
            return await again.files.exists("mark")

        await until(marked)


async def test_a_second_pause_changes_nothing(make):
    async with make() as sandbox:
        assert await sandbox.pause() is not False
        assert await sandbox.pause() is False


async def test_a_paused_sandbox_can_be_killed(sdk):
    sandbox = await sdk.Sandbox.create(timeout=60)
    await sandbox.pause()
    assert await sandbox.kill() is True
    assert await all_items(sdk.Sandbox.list()) == []


async def test_a_sandbox_pauses_at_its_end_if_asked(sdk):
    sandbox = await sdk.Sandbox.create(timeout=2, lifecycle={"on_timeout": "pause"})
    try:

        async def paused():
            return (await sandbox.get_info()).state == SandboxState.PAUSED

        await until(paused)
        again = await sdk.Sandbox.connect(sandbox.sandbox_id, timeout=60)
        assert (await again.run_code("6 * 7")).text == "42"
    finally:
        await sandbox.kill()


async def test_traffic_wakes_a_paused_sandbox_if_asked(sdk):
    lifecycle = {"on_timeout": "pause", "auto_resume": True}
    sandbox = await sdk.Sandbox.create(timeout=60, lifecycle=lifecycle)
    try:
        await sandbox.files.write("kept.txt", "kept")
        await sandbox.pause()
        assert await sandbox.files.read("kept.txt") == "kept"
        assert (await sandbox.get_info()).state == SandboxState.RUNNING
    finally:
        await sandbox.kill()
