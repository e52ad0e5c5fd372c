"""Sandboxes: made, looked at, listed, kept alive, ended."""

import asyncio
import datetime
import secrets

import e2b
import pytest
from e2b import SandboxException, SandboxQuery, SandboxState
from words import all_items, ask, needs, until

pytestmark = pytest.mark.anyio


async def test_a_new_sandbox_runs_and_says_what_it_is(make):
    async with make(timeout=120, metadata={"name": "a b&c=d", "x": "ž"}) as sandbox:
        assert await sandbox.is_running()
        info = await sandbox.get_info()
        assert info.sandbox_id == sandbox.sandbox_id and sandbox.sandbox_id.isalnum()
        assert info.metadata == {"name": "a b&c=d", "x": "ž"}
        assert info.state == SandboxState.RUNNING
        assert info.cpu_count > 0 and info.memory_mb > 0
        assert abs((info.end_at - info.started_at).total_seconds() - 120) < 5


async def test_the_base_sdk_has_a_sandbox_too(sdk):
    sandbox = await sdk.BaseSandbox.create(timeout=60)
    assert (await sandbox.commands.run("echo here")).stdout == "here\n"
    assert await sandbox.kill()


async def test_a_template_that_there_is_not_is_named(sdk):
    with pytest.raises(SandboxException, match="no-such-template"):
        await sdk.Sandbox.create("no-such-template", timeout=60)


async def test_environment_is_seen_by_code_and_commands(make):
    async with make(envs={"FOO": "bar ž"}) as sandbox:
        code = await sandbox.run_code("import os; os.environ['FOO']")
        assert code.text == "bar ž"
        assert (await sandbox.commands.run("echo $FOO")).stdout == "bar ž\n"


async def test_a_kill_ends_it_and_a_second_one_finds_nothing(sdk):
    sandbox = await sdk.Sandbox.create(timeout=60)
    assert await sandbox.kill() is True
    assert await sandbox.is_running() is False
    assert await sandbox.kill() is False
    assert await sdk.Sandbox.kill(sandbox.sandbox_id) is False
    assert sandbox.sandbox_id not in [one.sandbox_id for one in await all_items(sdk.Sandbox.list())]


async def test_a_kill_by_id_alone(sdk):
    sandbox = await sdk.Sandbox.create(timeout=60)
    assert await sdk.Sandbox.kill(sandbox.sandbox_id) is True
    assert await sandbox.is_running() is False


async def test_a_sandbox_ends_when_its_time_is_over(sdk):
    sandbox = await sdk.Sandbox.create(timeout=3)

    async def ended():
        return not await sandbox.is_running()

    await until(ended)
    assert await sandbox.kill() is False


async def test_a_new_timeout_counts_from_now_and_may_be_shorter(make):
    async with make(timeout=60) as sandbox:
        await sandbox.set_timeout(600)
        info = await sandbox.get_info()
        left = (info.end_at - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
        assert 500 < left <= 605
        await sandbox.set_timeout(1)

        async def ended():
            return not await sandbox.is_running()

        await until(ended)


async def test_a_client_that_knows_the_id_joins_again(make, sdk):
    async with make() as sandbox:
        await sandbox.run_code("x = 41")
        await sandbox.files.write("kept.txt", "kept")
        again = await sdk.Sandbox.connect(sandbox.sandbox_id, timeout=120)
        assert again.sandbox_id == sandbox.sandbox_id
        assert (await again.run_code("x + 1")).text == "42"
        assert await again.files.read("kept.txt") == "kept"


async def test_joining_never_shortens_the_time_left(make, sdk):
    async with make(timeout=600) as sandbox:
        before = (await sandbox.get_info()).end_at
        await sdk.Sandbox.connect(sandbox.sandbox_id, timeout=30)
        assert (await sandbox.get_info()).end_at >= before


async def test_lists_are_filtered_by_metadata_and_paged(sdk):
    mark = secrets.token_hex(4)
    each = [{"mark": mark, "number": str(number), "odd": "a b&c=d ž"} for number in range(3)]
    made = await asyncio.gather(*(sdk.Sandbox.create(timeout=300, metadata=one) for one in each))
    other = await sdk.Sandbox.create(timeout=300, metadata={"mark": "other"})
    ids = {one.sandbox_id for one in made}
    try:
        query = SandboxQuery(metadata={"mark": mark, "odd": "a b&c=d ž"})
        paginator = sdk.Sandbox.list(query=query, limit=2)
        first = await paginator.next_items()
        assert len(first) == 2 and paginator.has_next
        second = await paginator.next_items()
        assert not paginator.has_next
        assert {one.sandbox_id for one in first + second} == ids
        assert [one.metadata["number"] for one in first + second if one.sandbox_id == made[1].sandbox_id] == ["1"]
        # Newest first.
        starts = [one.started_at for one in first + second]
        assert starts == sorted(starts, reverse=True)
        everything = {one.sandbox_id for one in await all_items(sdk.Sandbox.list())}
        assert everything == ids | {other.sandbox_id}
        assert await all_items(sdk.Sandbox.list(query=SandboxQuery(metadata={"mark": "nobody"}))) == []
    finally:
        for one in [*made, other]:
            await one.kill()


async def test_lists_are_ordered_the_other_way(sdk):
    needs(e2b.Sandbox.list, "order")
    made = [await sdk.Sandbox.create(timeout=300) for _ in range(3)]
    try:
        rising = await all_items(sdk.Sandbox.list(order="asc", limit=1))
        assert [one.sandbox_id for one in rising] == [one.sandbox_id for one in made]
    finally:
        for one in made:
            await one.kill()


async def test_metrics_say_what_is_used_of_what_there_is(make):
    async with make() as sandbox:
        await sandbox.run_code("x = bytearray(30_000_000)")

        async def measured():
            return await sandbox.get_metrics()

        metrics = (await until(measured))[-1]
        assert metrics.cpu_count > 0 and metrics.cpu_used_pct >= 0
        assert 0 < metrics.mem_used <= metrics.mem_total
        assert 0 <= metrics.disk_used <= metrics.disk_total


async def test_a_repeated_create_with_one_key_makes_one_sandbox(sdk):
    needs(e2b.Sandbox.create, "idempotency_key")
    key = secrets.token_hex(16)
    first = await sdk.Sandbox.create(timeout=60, idempotency_key=key)
    second = await sdk.Sandbox.create(timeout=60, idempotency_key=key)
    try:
        assert first.sandbox_id == second.sandbox_id
    finally:
        await first.kill()


async def test_twenty_sandboxes_at_once_do_not_see_each_other(sdk):
    async def one(number):
        sandbox = await sdk.Sandbox.create(timeout=300)
        try:
            await sandbox.files.write("number.txt", str(number))
            code = "open('number.txt').read() + str('secret' in globals()); secret = 1"
            run = await sandbox.run_code(f"seen = {code}\nseen")
            return run.text
        finally:
            await sandbox.kill()

    assert await asyncio.gather(*map(one, range(20))) == [f"{number}False" for number in range(20)]


async def test_the_server_says_that_it_is_well(url):
    status, _, _ = await ask("GET", f"{url}/e2b/health")
    assert status == 200
