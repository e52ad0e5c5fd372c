"""Signed URLs: a file up or down with nothing but an address."""

import urllib.parse

import pytest
from words import ask

pytestmark = pytest.mark.anyio


async def test_a_signed_address_downloads(sandbox):
    await sandbox.files.write("a b.txt", "downloaded ž")
    status, headers, text = await ask("GET", sandbox.download_url("a b.txt"))
    assert (status, text) == (200, "downloaded ž".encode())
    assert "a%20b.txt" in headers["Content-Disposition"] or "a b.txt" in headers["Content-Disposition"]


async def test_a_signed_address_uploads(sandbox):
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nuploaded\r\n--b--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    status, _, said = await ask("POST", sandbox.upload_url("up.txt"), body, headers)
    assert status == 200, said
    assert await sandbox.files.read("up.txt") == "uploaded"


async def test_a_part_of_a_file(sandbox):
    await sandbox.files.write("a.txt", "0123456789")
    status, headers, text = await ask("GET", sandbox.download_url("a.txt"), headers={"Range": "bytes=2-4"})
    assert (status, text, headers["Content-Range"]) == (206, b"234", "bytes 2-4/10")


async def test_an_address_that_is_not_over_yet(sandbox):
    await sandbox.files.write("a.txt", "x")
    status, _, _ = await ask("GET", sandbox.download_url("a.txt", use_signature_expiration=120))
    assert status == 200


@pytest.mark.parametrize("change", ["path", "signature", "over", "operation"])
async def test_an_address_that_was_changed_is_refused(sandbox, change):
    await sandbox.files.write("a.txt", "x")
    await sandbox.files.write("b.txt", "secret")
    expiration = -10 if change == "over" else 120
    url = urllib.parse.urlsplit(sandbox.download_url("a.txt", use_signature_expiration=expiration))
    query = dict(urllib.parse.parse_qsl(url.query))
    method = "GET"
    if change == "path":
        query["path"] = "b.txt"
    elif change == "signature":
        query["signature"] = "v1_" + "A" * 43
    elif change == "operation":
        method = "POST"
    changed = url._replace(query=urllib.parse.urlencode(query)).geturl()
    body = b"--b--\r\n" if method == "POST" else None
    headers = {"Content-Type": "multipart/form-data; boundary=b"} if body else {}
    status, _, said = await ask(method, changed, body, headers)
    assert status in (401, 403, 404), said
    assert said["code"] == status and "secret" not in str(said)
    if change == "over":
        assert said == {"code": 401, "message": "signature is already expired"}


async def test_an_address_of_a_killed_sandbox_leads_nowhere(sdk):
    sandbox = await sdk.Sandbox.create(timeout=60)
    await sandbox.files.write("a.txt", "x")
    address = sandbox.download_url("a.txt")
    await sandbox.kill()
    status, _, _ = await ask("GET", address)
    assert status in (401, 404, 502)
