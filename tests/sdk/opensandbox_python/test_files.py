"""Files and folders."""

import pytest
from opensandbox.exceptions import SandboxException
from opensandbox.models.filesystem import ContentReplaceEntry, MoveEntry, SearchEntry, SetPermissionEntry, WriteEntry

pytestmark = pytest.mark.anyio


async def test_files_are_written_and_read(sandbox):
    everything = bytes(range(256)) * 4096
    await sandbox.files.write_files(
        [
            WriteEntry(path="data.txt", data="Hello", mode=600),
            WriteEntry(path="/tmp/new/all.bin", data=everything, mode=644),
        ]
    )
    assert await sandbox.files.read_file("data.txt") == "Hello"
    assert await sandbox.files.read_file("/home/user/data.txt") == "Hello", "relative paths start at home"
    assert await sandbox.files.read_bytes("/tmp/new/all.bin") == everything
    assert await sandbox.files.read_bytes("/tmp/new/all.bin", range_header="bytes=255-257") == b"\xff\x00\x01"
    info = await sandbox.files.get_file_info(["data.txt", "/tmp/new/all.bin"])
    assert (info["data.txt"].mode, info["data.txt"].size, info["data.txt"].owner) == (600, 5, "user")
    assert info["/tmp/new/all.bin"].size == len(everything)
    with pytest.raises(SandboxException):
        await sandbox.files.read_file("/tmp/no-such-file")
    with pytest.raises(SandboxException, match="root"):
        await sandbox.files.write_files([WriteEntry(path="x", data="x", owner="root")])


async def test_files_are_moved_changed_found_and_removed(sandbox):
    files = sandbox.files
    await files.create_directories([WriteEntry(path="/tmp/d/sub", mode=755)])
    await files.write_files([WriteEntry(path=f"/tmp/d/{name}", data="host: localhost") for name in ("a.txt", "sub/b.txt", "c.py")])
    found = await files.search(SearchEntry(path="/tmp/d", pattern="*.txt"))
    assert [entry.path for entry in found] == ["/tmp/d/a.txt", "/tmp/d/sub/b.txt"]
    await files.replace_contents([ContentReplaceEntry(path="/tmp/d/a.txt", old_content="localhost", new_content="0.0.0.0")])
    assert await files.read_file("/tmp/d/a.txt") == "host: 0.0.0.0"
    await files.set_permissions([SetPermissionEntry(path="/tmp/d/a.txt", mode=640)])
    assert (await files.get_file_info(["/tmp/d/a.txt"]))["/tmp/d/a.txt"].mode == 640
    await files.move_files([MoveEntry(src="/tmp/d/c.py", dest="/tmp/e/c.py")])
    assert await files.read_file("/tmp/e/c.py") == "host: localhost"
    await files.delete_files(["/tmp/d/a.txt"])
    with pytest.raises(SandboxException):
        await files.get_file_info(["/tmp/d/a.txt"])
    await files.delete_directories(["/tmp/d"])
    assert (await sandbox.commands.run("ls -d /tmp/d")).exit_code != 0


async def test_code_and_commands_see_the_same_files(sandbox, codes):
    await sandbox.files.write_files([WriteEntry(path="data.txt", data="Hello")])
    execution = await codes.run("print(open('data.txt').read(), end='')")
    assert execution.text == "Hello"
    assert (await sandbox.commands.run("cat data.txt")).text == "Hello"


async def test_what_a_sandbox_uses(sandbox):
    metrics = await sandbox.get_metrics()
    assert metrics.cpu_count > 0 and 0 <= metrics.cpu_used_percentage <= 100
    assert 0 < metrics.memory_used_in_mib <= metrics.memory_total_in_mib
