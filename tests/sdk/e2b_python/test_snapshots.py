"""Snapshots and forks: another sandbox from the files and the environment of one."""

import e2b
import pytest
from words import all_items, needs

pytestmark = pytest.mark.anyio


async def test_a_snapshot_is_a_template_of_new_sandboxes(sdk, make):
    needs(e2b.Sandbox, "create_snapshot")
    async with make(envs={"FOO": "kept"}) as sandbox:
        await sandbox.files.write("kept.txt", "kept")
        snapshot = await sandbox.create_snapshot()
        await sandbox.files.write("kept.txt", "changed later")
        try:
            listed = await all_items(sandbox.list_snapshots())
            assert [one.snapshot_id for one in listed] == [snapshot.snapshot_id]
            copy = await sdk.Sandbox.create(snapshot.snapshot_id, timeout=60)
            try:
                assert copy.sandbox_id != sandbox.sandbox_id
                assert await copy.files.read("kept.txt") == "kept"
                assert (await copy.run_code("6 * 7")).text == "42"
            finally:
                await copy.kill()
        finally:
            assert await sdk.Sandbox.delete_snapshot(snapshot.snapshot_id) is True
        assert await sdk.Sandbox.delete_snapshot(snapshot.snapshot_id) is False


async def test_a_fork_has_the_files_and_goes_its_own_way(make):
    needs(e2b.Sandbox, "fork")
    async with make(envs={"FOO": "kept"}) as sandbox:
        await sandbox.files.write("kept.txt", "kept")
        (fork,) = await sandbox.fork(timeout=60)
        try:
            assert await fork.files.read("kept.txt") == "kept"
            assert (await fork.commands.run("echo $FOO")).stdout == "kept\n"
            await fork.files.write("kept.txt", "other")
            assert await sandbox.files.read("kept.txt") == "kept"
        finally:
            await fork.kill()


async def test_a_named_snapshot_is_found_by_its_name_and_replaced_under_it(sdk, make):
    needs(e2b.Sandbox, "create_snapshot")
    async with make() as sandbox:
        for text in ("first", "second"):
            await sandbox.files.write("kept.txt", text)
            snapshot = await sandbox.create_snapshot(name="of-a-test")
            assert any("of-a-test" in name for name in snapshot.names)
        try:
            listed = await all_items(sandbox.list_snapshots())
            assert [one.snapshot_id for one in listed] == [snapshot.snapshot_id]
            copy = await sdk.Sandbox.create("of-a-test", timeout=60)
            try:
                assert await copy.files.read("kept.txt") == "second"
            finally:
                await copy.kill()
        finally:
            assert await sdk.Sandbox.delete_snapshot(snapshot.snapshot_id) is True


async def test_several_forks_of_one_moment(make):
    needs(e2b.Sandbox, "fork")
    async with make(metadata={"a": "b"}) as sandbox:
        await sandbox.files.write("kept.txt", "kept")
        forks = await sandbox.fork(timeout=60, count=3)
        try:
            assert len({fork.sandbox_id for fork in forks} | {sandbox.sandbox_id}) == 4
            for fork in forks:
                assert await fork.files.read("kept.txt") == "kept"
                assert (await fork.get_info()).metadata == {"a": "b"}
            assert (await sandbox.run_code("6 * 7")).text == "42"
        finally:
            for fork in forks:
                await fork.kill()
