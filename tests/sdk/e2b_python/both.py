"""The synchronous client in the words of the asynchronous one, so that each test is written once."""

import asyncio
import types

import e2b
import e2b_code_interpreter

# What the asynchronous client answers at once, too.
_AT_ONCE = {"get_host", "download_url", "upload_url", "list_snapshots"}
_SYNC_CLASSES = (e2b.Sandbox, e2b_code_interpreter.Sandbox)


class InThreads:
    """Each call runs in a thread and is awaited; what it gives is wrapped likewise if it can be called again."""

    def __init__(self, thing):
        self._thing = thing

    def __getattr__(self, name):
        value = getattr(self._thing, name)
        if not callable(value):
            return _wrapped(value)
        if name in _AT_ONCE or (name == "list" and self._thing in _SYNC_CLASSES):
            return lambda *words, **named: _wrapped(value(*words, **named))

        async def call(*words, **named):
            return _wrapped(await asyncio.to_thread(value, *words, **named))

        return call


def _wrapped(value):
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    module = type(value).__module__
    of_the_client = module.startswith("e2b.sandbox_sync") or module.endswith("code_interpreter_sync")
    return InThreads(value) if of_the_client else value


SDKS = {
    "sync": types.SimpleNamespace(
        is_async=False,
        Sandbox=InThreads(e2b_code_interpreter.Sandbox),
        BaseSandbox=InThreads(e2b.Sandbox),
    ),
    "async": types.SimpleNamespace(
        is_async=True,
        Sandbox=e2b_code_interpreter.AsyncSandbox,
        BaseSandbox=e2b.AsyncSandbox,
    ),
}
