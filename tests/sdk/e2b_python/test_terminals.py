"""Terminals: a shell on a PTY, typed into, resized, joined again, left."""

import pytest
from e2b import PtySize
from words import until

pytestmark = pytest.mark.anyio

SIZE = PtySize(rows=24, cols=80)


class Terminal:
    """A shell in either form: the asynchronous client is called, the other is waited for in a thread."""

    def __init__(self, sdk, sandbox):
        self.sdk, self.sandbox = sdk, sandbox
        self.shown = bytearray()

    async def open(self, **options):
        if self.sdk.is_async:
            options["on_data"] = self.shown.extend
        self.handle = await self.sandbox.pty.create(SIZE, **options)
        return self

    async def join(self, pid):
        options = {"on_data": self.shown.extend} if self.sdk.is_async else {}
        self.handle = await self.sandbox.pty.connect(pid, **options)
        return self

    async def type(self, text):
        await self.sandbox.pty.send_stdin(self.handle.pid, text.encode())

    async def end(self):
        """Types the end, and gives what was shown."""
        await self.type("exit\n")
        options = {} if self.sdk.is_async else {"on_pty": self.shown.extend}
        result = await self.handle.wait(**options)
        assert result.exit_code == 0
        return self.shown.decode()


@pytest.fixture
def terminal(sdk, sandbox):
    return Terminal(sdk, sandbox)


async def test_a_shell_answers_what_is_typed(terminal):
    await terminal.open()
    await terminal.type("echo $((6*7)); tty; tput cols\n")
    shown = await terminal.end()
    assert "42" in shown and "/dev/pts/" in shown and "80" in shown


async def test_a_shell_has_its_folder_and_environment(terminal):
    await terminal.open(cwd="/tmp", envs={"FOO": "b-a-r"})
    await terminal.type('echo "<$PWD $FOO $TERM>"\n')
    assert "</tmp b-a-r xterm" in await terminal.end()


async def test_a_new_size_reaches_the_shell(terminal, sandbox):
    await terminal.open()
    await sandbox.pty.resize(terminal.handle.pid, PtySize(rows=50, cols=123))
    await terminal.type("stty size\n")
    assert "50 123" in await terminal.end()


async def test_a_shell_is_joined_by_another_client(terminal, sandbox, sdk):
    await terminal.open()
    await terminal.type("kept=yes\n")
    await terminal.handle.disconnect()
    joined = await Terminal(sdk, sandbox).join(terminal.handle.pid)
    await joined.type('echo "<$kept>"\n')
    assert "<yes>" in await joined.end()


async def test_an_interrupt_is_typed_like_any_key(terminal, sandbox):
    await terminal.open()
    # One program that says so itself: between two, a key would reach the shell, which forgets it and begins the second.
    await terminal.type("sh -c 'touch begun; exec sleep 600'\n")

    async def begun():
        return await sandbox.files.exists("begun")

    await until(begun)
    await terminal.type("\x03")
    await terminal.type("echo $((40+2))\n")
    assert "42" in await terminal.end()


async def test_a_shell_is_killed_once(terminal, sandbox):
    await terminal.open()
    pid = terminal.handle.pid
    assert await sandbox.pty.kill(pid) is True

    async def gone():
        return pid not in [one.pid for one in await sandbox.commands.list()]

    await until(gone)
    assert await sandbox.pty.kill(pid) is False


async def test_a_shell_that_there_is_not(sandbox):
    # Older releases have no class of their own for it here.
    with pytest.raises(Exception, match="999999 not found"):
        await sandbox.pty.send_stdin(999_999, b"x")
    with pytest.raises(Exception, match="999999 not found"):
        await sandbox.pty.resize(999_999, SIZE)
