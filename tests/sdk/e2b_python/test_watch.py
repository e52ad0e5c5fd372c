"""Watches: what happens in a folder, as it happens."""

import pytest
from e2b import FilesystemEventType, InvalidArgumentException, NotFoundException
from words import until

pytestmark = pytest.mark.anyio


class Watched:
    """A watch in either form: the asynchronous client is called, the other one asks."""

    def __init__(self, sdk, sandbox):
        self.sdk, self.sandbox = sdk, sandbox
        self.events = []

    async def begin(self, path, **options):
        if self.sdk.is_async:
            options["on_event"] = self.events.append
        self.handle = await self.sandbox.files.watch_dir(path, **options)

    async def seen(self, kind, name):
        async def look():
            if not self.sdk.is_async:
                self.events += await self.handle.get_new_events()
            return [event for event in self.events if (event.type, event.name) == (kind, name)]

        return (await until(look))[0]


@pytest.fixture
async def watched(sdk, sandbox):
    await sandbox.files.make_dir("/home/user/w/sub")
    watched = Watched(sdk, sandbox)
    yield watched
    await watched.handle.stop()


async def test_what_happens_to_a_file_is_told(sandbox, watched):
    await watched.begin("/home/user/w")
    await sandbox.files.write("w/a.txt", "x")
    await watched.seen(FilesystemEventType.CREATE, "a.txt")
    await watched.seen(FilesystemEventType.WRITE, "a.txt")
    await sandbox.commands.run("chmod 600 w/a.txt")
    await watched.seen(FilesystemEventType.CHMOD, "a.txt")
    await sandbox.files.rename("w/a.txt", "w/b.txt")
    await watched.seen(FilesystemEventType.RENAME, "a.txt")
    await watched.seen(FilesystemEventType.CREATE, "b.txt")
    await sandbox.files.remove("w/b.txt")
    await watched.seen(FilesystemEventType.REMOVE, "b.txt")


async def test_folders_below_are_watched_if_asked(sandbox, watched):
    await watched.begin("/home/user/w", recursive=True)
    await sandbox.files.write("w/sub/a.txt", "x")
    await watched.seen(FilesystemEventType.WRITE, "sub/a.txt")
    await sandbox.files.write("w/new/deep/b.txt", "x")
    await watched.seen(FilesystemEventType.CREATE, "new")
    # What is made later in a new folder is told as well.
    await sandbox.files.write("w/new/deep/c.txt", "x")
    await watched.seen(FilesystemEventType.WRITE, "new/deep/c.txt")


async def test_folders_below_are_not_watched_if_not_asked(sandbox, watched):
    await watched.begin("/home/user/w")
    await sandbox.files.write("w/sub/a.txt", "x")
    await sandbox.files.write("w/end.txt", "x")
    await watched.seen(FilesystemEventType.WRITE, "end.txt")
    assert not [event for event in watched.events if "a.txt" in event.name]


async def test_an_event_comes_with_its_entry_if_asked(sandbox, watched):
    await watched.begin("/home/user/w", include_entry=True)
    await sandbox.files.write("w/a.txt", "12345")
    event = await watched.seen(FilesystemEventType.WRITE, "a.txt")
    assert event.entry.path == "/home/user/w/a.txt"


async def test_code_is_seen_at_work(sandbox, watched):
    await watched.begin("/home/user/w")
    await sandbox.run_code("open('/home/user/w/made.txt', 'w').write('x')")
    await watched.seen(FilesystemEventType.CREATE, "made.txt")


async def test_only_folders_that_exist_can_be_watched(sandbox, sdk):
    options = {"on_event": print} if sdk.is_async else {}
    with pytest.raises(NotFoundException):
        await sandbox.files.watch_dir("/home/user/nowhere", **options)
    await sandbox.files.write("a.txt", "")
    with pytest.raises(InvalidArgumentException):
        await sandbox.files.watch_dir("/home/user/a.txt", **options)


@pytest.mark.parametrize("sdk", ["sync"], indirect=True)
async def test_whoever_asks_at_once_hears_of_what_it_did(sandbox):
    await sandbox.files.make_dir("asked")
    handle = await sandbox.files.watch_dir("asked")
    for turn in range(10):
        await sandbox.files.write(f"asked/{turn}", "x")
        told = [(event.type, event.name) for event in await handle.get_new_events()]
        kinds = (FilesystemEventType.CREATE, FilesystemEventType.CHMOD, FilesystemEventType.WRITE)
        assert told == [(kind, str(turn)) for kind in kinds]
    await handle.stop()
