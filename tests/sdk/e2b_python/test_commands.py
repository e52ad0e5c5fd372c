"""Commands: run, left in the background, joined again, fed, ended."""

import asyncio

import pytest
from e2b import CommandExitException, InvalidArgumentException, NotFoundException, TimeoutException
from e2b.sandbox_async.commands.command import Commands
from words import LONG, needs, until

pytestmark = pytest.mark.anyio


async def test_a_command_has_output_and_an_exit_code(sandbox):
    result = await sandbox.commands.run("echo out; echo err >&2")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 0) and not result.error


async def test_a_command_that_fails_raises_with_all_it_said(sandbox):
    with pytest.raises(CommandExitException) as failed:
        await sandbox.commands.run("echo out; echo err >&2; exit 3")
    assert (failed.value.exit_code, failed.value.stdout, failed.value.stderr) == (3, "out\n", "err\n")
    with pytest.raises(CommandExitException) as failed:
        await sandbox.commands.run("no-such-program")
    assert failed.value.exit_code == 127


async def test_a_command_has_a_user_a_folder_and_an_environment(sandbox):
    result = await sandbox.commands.run("whoami; pwd; echo $HOME $FOO", envs={"FOO": "b a"}, cwd="/tmp")
    assert result.stdout == "user\n/tmp\n/home/user b a\n"
    assert (await sandbox.commands.run("pwd")).stdout == "/home/user\n"


async def test_a_command_of_root(sandbox):
    assert (await sandbox.commands.run("whoami", user="root")).stdout == "root\n"


async def test_a_folder_or_user_that_there_is_not_is_refused(sandbox):
    with pytest.raises(InvalidArgumentException, match="/nowhere"):
        await sandbox.commands.run("true", cwd="/nowhere")
    with pytest.raises(Exception, match="nobody-such"):
        await sandbox.commands.run("true", user="nobody-such")


async def test_output_comes_while_the_command_runs(sandbox):
    seen = asyncio.Event()
    loop = asyncio.get_running_loop()
    command = "echo first; until [ -e go ]; do sleep 0.05; done; echo second"
    running = asyncio.create_task(
        sandbox.commands.run(command, on_stdout=lambda _: loop.call_soon_threadsafe(seen.set), timeout=LONG)
    )
    await asyncio.wait_for(seen.wait(), LONG)
    assert not running.done()
    await sandbox.files.write("go", "")
    assert (await running).stdout == "first\nsecond\n"


async def test_output_of_many_bytes_is_whole(sandbox):
    result = await sandbox.commands.run("seq 200000")
    assert result.stdout == "".join(f"{number}\n" for number in range(1, 200001))


async def test_text_of_many_bytes_to_a_letter_is_whole(sandbox):
    result = await sandbox.commands.run("for i in $(seq 20000); do printf ž; done")
    assert result.stdout == "ž" * 20000


async def test_a_background_command_is_waited_for_later(sandbox):
    handle = await sandbox.commands.run("sleep 0.2; echo done", background=True)
    assert handle.pid > 0
    result = await handle.wait()
    assert (result.stdout, result.exit_code) == ("done\n", 0)


async def test_a_command_is_fed_and_its_input_closed(sandbox):
    handle = await sandbox.commands.run("cat; echo end", background=True, stdin=True)
    await sandbox.commands.send_stdin(handle.pid, "fed ž\n")
    await sandbox.commands.close_stdin(handle.pid)
    assert (await handle.wait()).stdout == "fed ž\nend\n"


async def test_a_command_is_fed_by_a_stream(sandbox, sdk):
    needs(Commands, "stream_input")
    handle = await sandbox.commands.run("head -c 12", background=True, stdin=True)
    pieces = ["first\n", b"second"]
    if sdk.is_async:
        stream = sandbox.commands.stream_input(handle.pid)
        for piece in pieces:
            await stream.send(piece)
        await stream.close()
    else:
        await sandbox.commands.stream_input(handle.pid, pieces)
    assert (await handle.wait()).stdout == "first\nsecond"


async def test_commands_are_listed_while_they_run(sandbox):
    handle = await sandbox.commands.run("sleep 600", background=True, envs={"MARK": "1"}, cwd="/tmp")
    (found,) = [one for one in await sandbox.commands.list() if one.pid == handle.pid]
    assert found.cmd == "/bin/bash" and "sleep 600" in found.args
    assert found.cwd == "/tmp" and found.envs["MARK"] == "1"
    assert await handle.kill() is True

    async def gone():
        return handle.pid not in [one.pid for one in await sandbox.commands.list()]

    await until(gone)


async def test_a_killed_command_is_told(sandbox):
    handle = await sandbox.commands.run("sleep 600", background=True)
    assert await sandbox.commands.kill(handle.pid) is True
    with pytest.raises(CommandExitException):
        await handle.wait()
    assert await sandbox.commands.kill(handle.pid) is False
    assert await sandbox.commands.kill(999_999) is False


async def test_a_command_is_joined_again_by_its_number(sandbox, sdk):
    handle = await sandbox.commands.run("until [ -e go ]; do sleep 0.05; done; echo late; exit 4", background=True)
    await handle.disconnect()
    other = await sdk.Sandbox.connect(sandbox.sandbox_id)
    joined = await other.commands.connect(handle.pid, timeout=LONG)
    await sandbox.files.write("go", "")
    with pytest.raises(CommandExitException) as ended:
        await joined.wait()
    assert (ended.value.exit_code, ended.value.stdout) == (4, "late\n")


async def test_a_command_outlives_the_client_that_started_it(sandbox):
    handle = await sandbox.commands.run("sleep 1; echo survived > mark", background=True)
    await handle.disconnect()

    async def marked():
        return await sandbox.files.exists("mark")

    await until(marked)


async def test_a_command_that_there_is_not_cannot_be_joined(sandbox):
    with pytest.raises(NotFoundException):
        await sandbox.commands.connect(999_999)


async def test_a_command_over_its_time_is_ended(sandbox):
    with pytest.raises(TimeoutException):
        await sandbox.commands.run("sleep 600", timeout=2)

    async def ended():
        return not [one for one in await sandbox.commands.list() if "sleep 600" in one.args]

    await until(ended)


async def test_children_left_behind_do_not_hold_a_command_back(sandbox):
    result = await sandbox.commands.run("sleep 600 >/dev/null 2>&1 & echo left")
    assert result.stdout == "left\n"


async def test_commands_run_beside_code(sandbox):
    running = asyncio.create_task(sandbox.run_code("import time, os\nwhile not os.path.exists('go'): time.sleep(0.05)\n1"))
    await sandbox.commands.run("touch go")
    assert (await running).text == "1"


async def test_a_command_ends_with_its_sandbox(sdk):
    sandbox = await sdk.Sandbox.create(timeout=60)
    running = asyncio.create_task(sandbox.commands.run("echo on; sleep 600", timeout=LONG))
    await asyncio.sleep(0.5)
    await sandbox.kill()
    with pytest.raises(Exception) as ended:
        await running
    assert not isinstance(ended.value, (AssertionError, CommandExitException))


async def test_a_killed_command_is_gone_at_once(sandbox):
    for _ in range(5):
        handle = await sandbox.commands.run("sleep 1000", background=True)
        assert await sandbox.commands.kill(handle.pid) is True
        told = await sandbox.commands.run(f"kill -0 {handle.pid} 2>/dev/null || echo gone")
        assert told.stdout == "gone\n"
