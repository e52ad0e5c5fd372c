"""The nine calls of the containers API, by both clients."""

import asyncio

import pytest
from openai import AsyncOpenAI, NotFoundError


def test_all_nine_calls(client):
    container = client.containers.create(name="box", memory_limit="1g")
    assert (container.object, container.status, container.name) == ("container", "running", "box")
    assert container.expires_after.minutes == 20 and container.memory_limit == "1g"
    assert client.containers.retrieve(container.id).id == container.id
    assert container.id in [one.id for one in client.containers.list()]

    files = client.containers.files
    uploaded = client.files.create(file=("b.txt", b"bee"), purpose="assistants")
    first = files.create(container.id, file=("a.txt", b"ay"))
    second = files.create(container.id, file_id=uploaded.id)
    assert (first.object, first.bytes, first.source) == ("container.file", 2, "user")
    assert first.path.startswith("/mnt/data/") and first.path.endswith("-a.txt")
    assert second.path == f"/mnt/data/{uploaded.id}-b.txt"
    assert files.retrieve(first.id, container_id=container.id).to_dict() == first.to_dict()
    assert {one.id for one in files.list(container.id)} == {first.id, second.id}
    assert files.content.retrieve(second.id, container_id=container.id).read() == b"bee"

    assert files.delete(first.id, container_id=container.id) is None
    with pytest.raises(NotFoundError):
        files.retrieve(first.id, container_id=container.id)
    assert client.containers.delete(container.id) is None
    with pytest.raises(NotFoundError, match=f"Container with id '{container.id}' not found."):
        client.containers.retrieve(container.id)


def test_all_nine_calls_without_waiting(settings):
    async def calls():
        async with AsyncOpenAI(**settings) as client:
            container = await client.containers.create(name="box")
            files = client.containers.files
            assert [one.id async for one in client.containers.list()] == [container.id]
            assert (await client.containers.retrieve(container.id)).name == "box"
            file = await files.create(container.id, file=("a.txt", b"ay"))
            again = await files.retrieve(file.id, container_id=container.id)
            assert again.to_dict() == file.to_dict()
            assert [one.id async for one in files.list(container.id)] == [file.id]
            content = await files.content.retrieve(file.id, container_id=container.id)
            assert content.read() == b"ay"
            await files.delete(file.id, container_id=container.id)
            assert [one.id async for one in files.list(container.id)] == []
            await client.containers.delete(container.id)
            assert [one.id async for one in client.containers.list()] == []

    asyncio.run(calls())


def test_pages_follow_each_other(client):
    ids = {client.containers.create(name=f"box {number}").id for number in range(5)}
    rising = [one.id for one in client.containers.list(limit=2, order="asc")]
    assert len(rising) == 5 and set(rising) == ids
    assert [one.id for one in client.containers.list(limit=2)] == rising[::-1]
    assert [one.name for one in client.containers.list(name="box 3")] == ["box 3"]
    page = client.containers.list(limit=2, order="asc", after=rising[1])
    assert ([one.id for one in page.data], page.has_more) == (rising[2:4], True)


def test_files_come_in_pages_too(client):
    container = client.containers.create(name="box")
    files = client.containers.files
    ids = {files.create(container.id, file=(f"{number}.txt", b"x")).id for number in range(5)}
    rising = [one.id for one in files.list(container.id, limit=2, order="asc")]
    assert len(rising) == 5 and set(rising) == ids
    assert [one.id for one in files.list(container.id, limit=3)] == rising[::-1]


def test_lists_are_in_the_order_of_creation(client):
    ids = [client.containers.create(name=f"box {number}").id for number in range(5)]
    assert [one.id for one in client.containers.list(order="asc")] == ids
    files = client.containers.files
    held = [files.create(ids[0], file=(f"{number}.txt", b"x")).id for number in range(5)]
    assert [one.id for one in files.list(ids[0], order="asc")] == held
