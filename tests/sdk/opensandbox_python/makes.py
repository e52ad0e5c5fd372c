"""Sandboxes that end with their block, and short words for what many tests say."""

import asyncio
import contextlib
import os
import time

import pytest
from opensandbox import Sandbox
from opensandbox.exceptions import SandboxException

IMAGE = "opensandbox/code-interpreter:v1.1.0"
ENTRYPOINT = ["/opt/code-interpreter/code-interpreter.sh"]
# An end for what must happen; nothing is expected to take near as long.
LONG = 60
# Set where every runtime is installed: a language that is missing there is a failure.
EVERY_LANGUAGE = "SANDGATE_TEST_EVERY_LANGUAGE"


@contextlib.asynccontextmanager
async def made(config, **options):
    sandbox = await Sandbox.create(IMAGE, entrypoint=ENTRYPOINT, connection_config=config, **options)
    try:
        yield sandbox
    finally:
        with contextlib.suppress(SandboxException):
            await sandbox.kill()
        await sandbox.close()


async def context_in(codes, language):
    """A context of a language, where its runtime is there."""
    try:
        return await codes.create_context(language)
    except SandboxException as refused:
        assert "not available here" in str(refused)
        if os.environ.get(EVERY_LANGUAGE):
            raise
        pytest.skip(f"the runtime of {language} is not installed here")


async def until(look):
    """What `look` gives, once it gives anything."""
    begun = time.monotonic()
    while not (seen := await look()):
        assert time.monotonic() - begun < LONG, "it did not happen"
        await asyncio.sleep(0.05)
    return seen


def texts(messages):
    return [message.text for message in messages]
