"""Short words for what many tests say."""

import asyncio
import inspect
import json
import time
import urllib.error
import urllib.request

import pytest
from reports import NOT_IN_THIS_RELEASE

# An end for what must happen; nothing is expected to take near as long.
LONG = 60


def needs(thing, *names):
    """Skips a test of what the installed release of the SDK does not have."""
    has = set(dir(thing)) | (set(inspect.signature(thing).parameters) if callable(thing) else set())
    for name in names:
        if name not in has:
            pytest.skip(f"{NOT_IN_THIS_RELEASE}{name}")


async def until(look):
    """What `look` gives, once it gives anything."""
    begun = time.monotonic()
    while not (seen := await look()):
        assert time.monotonic() - begun < LONG, "it did not happen"
        await asyncio.sleep(0.05)
    return seen


async def all_items(paginator):
    items = []
    while paginator.has_next:
        items += await paginator.next_items()
    return items


async def ask(method, url, body=None, headers=()):
    """The bare wire: status, headers, and the body, read as JSON where it is."""

    def send():
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(url, data, dict(headers), method=method)
        if data is not None and not isinstance(body, bytes):
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=LONG) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.headers, refused.read()

    status, headers, text = await asyncio.to_thread(send)
    if "json" in (headers.get("Content-Type") or ""):
        return status, headers, json.loads(text)
    return status, headers, text
