"""Commands and the shells that keep their state."""

import asyncio
from datetime import timedelta

import pytest
from makes import texts, until
from opensandbox.exceptions import SandboxException
from opensandbox.models.execd import ExecutionHandlers, RunCommandOpts

pytestmark = pytest.mark.anyio


async def test_output_comes_by_lines_and_the_code_of_the_end(sandbox):
    done = await sandbox.commands.run(r"printf 'a\n\nb\n\n\nc\n'; echo oh >&2")
    assert texts(done.logs.stdout) == ["a", "\n", "b", "\n", "\n", "c"]
    assert texts(done.logs.stderr) == ["oh"]
    assert done.exit_code == 0 and done.error is None
    failed = await sandbox.commands.run("exit 3")
    assert (failed.exit_code, failed.error.name, failed.error.traceback) == (3, "CommandExecError", ["exit status 3"])
    assert failed.complete is None


async def test_folder_variables_and_a_program_without_a_shell(sandbox):
    opts = RunCommandOpts(working_directory="/tmp", envs={"WHO": "me"})
    done = await sandbox.commands.run("echo $WHO; pwd", opts=opts)
    assert texts(done.logs.stdout) == ["me", "/tmp"]
    done = await sandbox.commands.run(["printf", "%s|", "a b", "$HOME"])
    assert done.text == "a b|$HOME|"
    with pytest.raises(SandboxException, match="/nowhere"):
        await sandbox.commands.run("true", opts=RunCommandOpts(working_directory="/nowhere"))
    with pytest.raises(SandboxException, match="no root"):
        await sandbox.commands.run("true", opts=RunCommandOpts(uid=0))
    assert (await sandbox.commands.run("id -u", opts=RunCommandOpts(uid=1000, gid=1000))).text == "1000"


async def test_a_command_that_takes_too_long_is_ended(sandbox):
    opts = RunCommandOpts(timeout=timedelta(milliseconds=300))
    done = await asyncio.wait_for(sandbox.commands.run("sleep 600", opts=opts), 60)
    assert done.exit_code == -1 and "killed" in done.error.traceback[0]


async def test_a_command_in_the_background_is_followed_by_its_id(sandbox):
    command = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two >&2; exit 4"
    begun = await sandbox.commands.run(command, opts=RunCommandOpts(background=True))
    assert begun.id and begun.exit_code is None

    async def said():
        logs = await sandbox.commands.get_background_command_logs(begun.id)
        return logs if logs.content else None

    logs = await until(said)
    assert logs.content == "one\n"
    assert (await sandbox.commands.get_command_status(begun.id)).running
    await sandbox.commands.run("touch go")

    async def over():
        status = await sandbox.commands.get_command_status(begun.id)
        return None if status.running else status

    status = await until(over)
    assert (status.exit_code, status.content) == (4, command) and status.finished_at >= status.started_at
    rest = await sandbox.commands.get_background_command_logs(begun.id, cursor=logs.cursor)
    assert rest.content == "two\n" and rest.cursor > logs.cursor
    again = await sandbox.commands.get_background_command_logs(begun.id, cursor=rest.cursor)
    assert (again.content, again.cursor) == ("", rest.cursor)
    with pytest.raises(SandboxException):
        await sandbox.commands.get_command_status("no-such-command")


async def test_a_running_command_is_interrupted(sandbox):
    begun = asyncio.Event()

    async def on_stdout(_):
        begun.set()

    running = asyncio.create_task(
        sandbox.commands.run("echo $$ > pid; echo up; sleep 600", handlers=ExecutionHandlers(on_stdout=on_stdout))
    )
    await asyncio.wait_for(begun.wait(), 60)
    ids = []

    async def on_init(init):
        ids.append(init.id)
        await sandbox.commands.interrupt(init.id)

    stopped = await sandbox.commands.run("sleep 600", handlers=ExecutionHandlers(on_init=on_init))
    assert stopped.id == ids[0] and stopped.error is not None
    # Whoever stops listening ends the command.
    running.cancel()

    async def gone():
        return (await sandbox.commands.run("kill -0 $(cat pid)")).exit_code == 1

    await until(gone)


async def test_a_session_keeps_its_folder_and_what_is_exported(sandbox):
    session = await sandbox.commands.create_session(working_directory="/tmp/work")
    first = await sandbox.commands.run_in_session(session, "pwd; export A='x y'; cd /; echo oh >&2")
    assert texts(first.logs.stdout) == ["/tmp/work", "oh"] and first.exit_code == 0
    second = await sandbox.commands.run_in_session(session, 'echo "$A"; pwd; exit 5')
    assert texts(second.logs.stdout) == ["x y", "/"] and second.exit_code == 5
    there = await sandbox.commands.run_in_session(session, "pwd", working_directory="/usr")
    assert there.text == "/usr"
    late = await sandbox.commands.run_in_session(session, "sleep 600", timeout=timedelta(seconds=1))
    assert late.error is not None
    assert (await sandbox.commands.run_in_session(session, 'echo "$A"')).text == "x y"
    await sandbox.commands.delete_session(session)
    with pytest.raises(SandboxException):
        await sandbox.commands.run_in_session(session, "true")


async def test_a_variable_set_for_all_that_comes(sandbox):
    await sandbox.commands.set_env("PLAIN", "a b")
    await sandbox.commands.set_env("ODD", "it's \"so\"\nand so")
    assert (await sandbox.commands.run('echo "$PLAIN|$ODD"')).text == "a b|it's \"so\"\nand so"
    session = await sandbox.commands.create_session()
    assert (await sandbox.commands.run_in_session(session, "echo $PLAIN")).text == "a b"
