"""The files API: upload, look, page through, download, delete."""

import io

import pytest
from openai import BadRequestError, NotFoundError


def test_a_file_from_upload_to_deletion(client):
    file = client.files.create(file=("data.csv", b"a,b\n1,2\n"), purpose="assistants")
    assert (file.object, file.bytes, file.filename, file.purpose) == ("file", 8, "data.csv", "assistants")
    assert file.id.startswith("file-") and file.status == "processed"
    assert client.files.retrieve(file.id) == file
    assert client.files.content(file.id).read() == b"a,b\n1,2\n"
    deleted = client.files.delete(file.id)
    assert (deleted.id, deleted.deleted, deleted.object) == (file.id, True, "file")
    for call in (client.files.retrieve, client.files.content, client.files.delete):
        with pytest.raises(NotFoundError, match="No such File object"):
            call(file.id)


def test_lists_page_by_themselves_and_filter(client):
    purposes = ["assistants", "user_data"] * 3
    ids = [
        client.files.create(file=(f"{number}.txt", b"x"), purpose=purpose).id
        for number, purpose in enumerate(purposes)
    ]
    assert [file.id for file in client.files.list(limit=2)] == ids[::-1]
    assert [file.id for file in client.files.list(limit=2, order="asc")] == ids
    assert [file.id for file in client.files.list(purpose="user_data", order="asc")] == ids[1::2]


def test_a_large_file_with_an_odd_name_and_an_end(client):
    content = bytes(range(256)) * 4096
    name = 'größe "x" 📈.bin'
    expires = {"anchor": "created_at", "seconds": 3600}
    file = client.files.create(file=(name, io.BytesIO(content)), purpose="user_data", expires_after=expires)
    assert (file.filename, file.bytes) == (name, len(content))
    assert file.expires_at == file.created_at + 3600
    assert client.files.content(file.id).read() == content


def test_a_purpose_that_there_is_not(client):
    with pytest.raises(BadRequestError) as refused:
        client.files.create(file=("a.txt", b"x"), purpose="nonsense")
    assert refused.value.param == "purpose"
