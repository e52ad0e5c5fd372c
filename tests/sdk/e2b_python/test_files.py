"""Files: written, read, listed, moved, removed."""

import io
import os

import pytest
from e2b import FileType, InvalidArgumentException, NotFoundException
from words import needs

pytestmark = pytest.mark.anyio

FILES = "e2b.sandbox_sync.filesystem.filesystem"


def needs_of_files(method, *names):
    module = __import__(FILES, fromlist=["Filesystem"])
    needs(getattr(module.Filesystem, method), *names)


async def test_text_comes_back_as_it_was_written(sandbox):
    written = await sandbox.files.write("/home/user/a.txt", "hello ž\n")
    assert (written.name, written.path, written.type) == ("a.txt", "/home/user/a.txt", FileType.FILE)
    assert await sandbox.files.read("/home/user/a.txt") == "hello ž\n"
    # Paths without a root are those of the user's home.
    assert await sandbox.files.read("a.txt") == "hello ž\n"
    assert await sandbox.files.read("~/a.txt") == "hello ž\n"


async def test_bytes_come_back_as_they_were(sandbox):
    content = bytes(range(256)) * 100
    await sandbox.files.write("bytes.bin", content)
    assert bytes(await sandbox.files.read("bytes.bin", format="bytes")) == content


async def test_an_open_file_is_uploaded(sandbox):
    await sandbox.files.write("open.bin", io.BytesIO(b"from a file"))
    assert await sandbox.files.read("open.bin") == "from a file"


async def test_a_stream_reads_a_large_file_in_pieces(sandbox, sdk):
    content = os.urandom(8 * 1024 * 1024)
    await sandbox.files.write("large.bin", content)
    stream = await sandbox.files.read("large.bin", format="stream")
    pieces = [piece async for piece in stream] if sdk.is_async else list(stream)
    assert len(pieces) > 1 and b"".join(pieces) == content


async def test_an_empty_file(sandbox):
    await sandbox.files.write("empty", "")
    assert await sandbox.files.read("empty") == ""
    assert (await sandbox.files.get_info("empty")).size == 0


async def test_a_new_write_replaces_the_whole_file(sandbox):
    await sandbox.files.write("a.txt", "long text")
    await sandbox.files.write("a.txt", "x")
    assert await sandbox.files.read("a.txt") == "x"


async def test_folders_above_a_file_are_made(sandbox):
    await sandbox.files.write("/home/user/a/b/c.txt", "deep")
    assert await sandbox.files.read("/home/user/a/b/c.txt") == "deep"


async def test_several_files_in_one_request(sandbox):
    files = [{"path": "d/b.txt", "data": "bee"}, {"path": "/tmp/c.bin", "data": b"\x00\xff"}]
    written = await sandbox.files.write_files(files)
    assert [one.path for one in written] == ["/home/user/d/b.txt", "/tmp/c.bin"]
    assert await sandbox.files.read("d/b.txt") == "bee"
    assert bytes(await sandbox.files.read("/tmp/c.bin", format="bytes")) == b"\x00\xff"
    assert await sandbox.files.write_files([]) == []


async def test_octet_streams_and_gzip(sandbox):
    needs_of_files("write", "use_octet_stream", "gzip")
    await sandbox.files.write("oct.bin", b"\x00octets", use_octet_stream=True)
    assert bytes(await sandbox.files.read("oct.bin", format="bytes")) == b"\x00octets"
    text = "packed " * 10_000
    await sandbox.files.write("packed.txt", text, gzip=True)
    assert await sandbox.files.read("packed.txt") == text
    assert await sandbox.files.read("packed.txt", gzip=True) == text
    assert (await sandbox.files.get_info("packed.txt")).size == len(text)


async def test_metadata_of_a_file_is_kept_until_the_next_write(sandbox):
    needs_of_files("write", "metadata")
    written = await sandbox.files.write("noted.txt", "x", metadata={"author": "somebody", "n": "1"})
    assert written.metadata == {"author": "somebody", "n": "1"}
    assert (await sandbox.files.get_info("noted.txt")).metadata == {"author": "somebody", "n": "1"}
    await sandbox.files.write("noted.txt", "y", metadata={"author": "another"})
    assert (await sandbox.files.get_info("noted.txt")).metadata == {"author": "another"}


async def test_metadata_of_a_file_is_listed_moves_with_it_and_ends_with_a_write_that_has_none(sandbox):
    needs_of_files("write", "metadata")
    assert (await sandbox.files.write("m/plain.txt", "x")).metadata is None
    await sandbox.files.write("m/plain.txt", "x", metadata={"tag": "1"})
    assert [one.metadata for one in await sandbox.files.list("m")] == [{"tag": "1"}]
    assert (await sandbox.files.rename("m/plain.txt", "m/moved.txt")).metadata == {"tag": "1"}
    assert (await sandbox.files.write("m/moved.txt", "y")).metadata is None
    assert (await sandbox.files.get_info("m/moved.txt")).metadata is None


async def test_a_list_says_what_is_in_a_folder(sandbox):
    await sandbox.files.write_files([{"path": "f/a.txt", "data": "12345"}, {"path": "f/sub/b.txt", "data": ""}])
    listed = await sandbox.files.list("f")
    assert [(one.name, one.type, one.path) for one in listed] == [
        ("a.txt", FileType.FILE, "/home/user/f/a.txt"),
        ("sub", FileType.DIR, "/home/user/f/sub"),
    ]
    deep = await sandbox.files.list("f", depth=2)
    assert [one.path for one in deep] == [
        "/home/user/f/a.txt",
        "/home/user/f/sub",
        "/home/user/f/sub/b.txt",
    ]


async def test_the_root_can_be_listed(sandbox):
    names = {one.name for one in await sandbox.files.list("/")}
    assert {"home", "tmp", "usr"} <= names


async def test_what_is_known_of_a_file(sandbox):
    await sandbox.files.write("a.txt", "12345")
    assert (await sandbox.files.get_info("a.txt")).mode & 0o777 == 0o644
    await sandbox.commands.run("chmod 640 a.txt")
    info = await sandbox.files.get_info("a.txt")
    assert (info.name, info.type, info.path, info.size) == ("a.txt", FileType.FILE, "/home/user/a.txt", 5)
    assert (info.mode & 0o777, info.permissions) == (0o640, "-rw-r-----")
    assert (info.owner, info.group) == ("user", "user")
    assert info.modified_time.year >= 2024 and info.symlink_target is None


async def test_what_is_known_of_a_link(sandbox):
    await sandbox.files.write("a.txt", "12345")
    await sandbox.commands.run("ln -s /home/user/a.txt link")
    info = await sandbox.files.get_info("link")
    assert info.symlink_target == "/home/user/a.txt" and info.name == "link"


async def test_what_exists_and_what_does_not(sandbox):
    await sandbox.files.write("a.txt", "")
    assert await sandbox.files.exists("a.txt") is True
    assert await sandbox.files.exists("/home/user") is True
    assert await sandbox.files.exists("b.txt") is False


async def test_a_folder_is_made_once(sandbox):
    assert await sandbox.files.make_dir("new/deep") is True
    assert await sandbox.files.make_dir("new/deep") is False
    assert (await sandbox.files.get_info("new/deep")).type == FileType.DIR


async def test_a_rename_moves(sandbox):
    await sandbox.files.write("a.txt", "moved")
    info = await sandbox.files.rename("a.txt", "b.txt")
    assert (info.name, info.path) == ("b.txt", "/home/user/b.txt")
    assert await sandbox.files.exists("a.txt") is False
    assert await sandbox.files.read("b.txt") == "moved"


async def test_a_remove_takes_folders_with_all_in_them_and_does_not_mind_the_missing(sandbox):
    await sandbox.files.write("f/sub/a.txt", "")
    await sandbox.files.remove("f")
    assert await sandbox.files.exists("f") is False
    await sandbox.files.remove("f")


async def test_files_written_are_seen_by_code_and_the_other_way_round(sandbox):
    await sandbox.files.write("in.csv", "a,b\n1,2\n")
    run = await sandbox.run_code("open('out.txt', 'w').write(open('in.csv').read()[::-1])")
    assert run.error is None
    assert await sandbox.files.read("out.txt") == "\n2,1\nb,a"


async def test_a_file_that_there_is_not_is_named(sandbox):
    with pytest.raises(NotFoundException, match="nowhere.txt"):
        await sandbox.files.read("nowhere.txt")
    with pytest.raises(NotFoundException):
        await sandbox.files.get_info("nowhere.txt")
    with pytest.raises(NotFoundException):
        await sandbox.files.list("nowhere")
    with pytest.raises(NotFoundException):
        await sandbox.files.rename("nowhere.txt", "b.txt")


async def test_folders_and_files_are_not_taken_for_each_other(sandbox):
    await sandbox.files.write("a.txt", "x")
    with pytest.raises(InvalidArgumentException):
        await sandbox.files.list("a.txt")
    with pytest.raises(InvalidArgumentException):
        await sandbox.files.read("/home/user")
    with pytest.raises(InvalidArgumentException):
        await sandbox.files.make_dir("a.txt")


async def test_odd_names_are_names(sandbox):
    for name in ("with space.txt", "ünïcödé 📈.txt", "quote'\"s", "%2e%2e", "a+b&c=d?e#f"):
        await sandbox.files.write(name, name)
        assert await sandbox.files.read(name) == name
        assert await sandbox.files.exists(name)
    assert len(await sandbox.files.list("/home/user")) >= 5




async def test_what_the_kernel_makes_up_can_be_read(sandbox, make):
    assert "processor" in await sandbox.files.read("/proc/cpuinfo")
    async with make() as other:
        boots = [await one.files.read("/proc/sys/kernel/random/boot_id") for one in (sandbox, other)]
    with open("/proc/sys/kernel/random/boot_id") as host:
        assert len({*boots, host.read()}) == 3, "each sandbox has a boot of its own"
