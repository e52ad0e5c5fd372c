"""LiteLLM's own client of OpenSandbox."""

import pytest
from litellm.sandbox.main import acode_interpreter_tool, acreate_sandbox, adelete_sandbox, arun_code

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["", "/v1"])
def api_base(request, url):
    return f"{url}{request.param}"


@pytest.mark.parametrize("use_server_proxy", [False, True])
async def test_a_sandbox_runs_code_and_keeps_its_state(api_base, key, use_server_proxy):
    where = {"api_key": key, "api_base": api_base}
    container = await acreate_sandbox(provider="opensandbox", use_server_proxy=use_server_proxy, **where)
    try:
        first = await arun_code(provider="opensandbox", container=container, code="x = 20\nprint('hi')", api_key=key)
        assert (first.stdout, first.error) == ("hi\n", None)
        second = await arun_code(provider="opensandbox", container=container, code="x + 22", api_key=key)
        assert "42" in str(second.results)
        failed = await arun_code(provider="opensandbox", container=container, code="1/0", api_key=key)
        assert "ZeroDivisionError" in str(failed.error)
    finally:
        assert await adelete_sandbox(provider="opensandbox", container=container, **where)


async def test_all_at_once(api_base, key):
    result = await acode_interpreter_tool(provider="opensandbox", code="print(6 * 7)", api_key=key, api_base=api_base)
    assert result.stdout == "42\n"
