"""openai-agents' own client of E2B, one more user that knows nothing of this server."""

import io
import json
from pathlib import Path

import pytest

pytest.importorskip("agents.extensions.sandbox.e2b", reason="not in this release: openai-agents")

from agents import RunConfig, Runner  # noqa: E402
from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions  # noqa: E402
from agents.items import ModelResponse  # noqa: E402
from agents.models.interface import Model  # noqa: E402
from agents.sandbox import SandboxAgent, SandboxRunConfig  # noqa: E402
from agents.usage import Usage  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

pytestmark = pytest.mark.anyio

TYPES = ["e2b", "e2b_code_interpreter"]


def options(sandbox_type="e2b_code_interpreter", **more):
    return E2BSandboxClientOptions(sandbox_type=sandbox_type, timeout=300, **more)


@pytest.fixture(params=TYPES)
async def session(request):
    session = await E2BSandboxClient().create(options=options(request.param))
    await session.start()
    yield session
    await session.shutdown()


async def test_a_session_runs_commands(session):
    result = await session.exec("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == (b"out\n", b"err\n", 3)
    assert await session.running()


async def test_a_session_has_a_workspace_of_files(session):
    await session.write(Path("notes/a.txt"), io.BytesIO(b"noted"))
    assert (await session.read(Path("notes/a.txt"))).read() == b"noted"
    result = await session.exec("cat notes/a.txt && pwd")
    assert result.stdout == b"noted/workspace\n"
    assert [Path(entry.path).name for entry in await session.ls(Path("notes"))] == ["a.txt"]


async def test_a_session_has_terminals(session):
    assert session.supports_pty()
    begun = await session.pty_exec_start("python3 -q", tty=True, yield_time_s=2)
    more = await session.pty_write_stdin(session_id=begun.process_id, chars="print(6*7)\n", yield_time_s=5)
    assert b"42" in begun.output + more.output
    await session.pty_terminate_all()


async def test_the_workspace_goes_into_another_sandbox():
    client = E2BSandboxClient()
    first = await client.create(options=options())
    await first.start()
    await first.write(Path("kept.txt"), io.BytesIO(b"kept"))
    archive = await first.persist_workspace()
    await first.shutdown()
    second = await client.create(options=options())
    await second.start()
    await second.hydrate_workspace(archive)
    assert (await second.read(Path("kept.txt"))).read() == b"kept"
    await second.shutdown()


class Played(Model):
    """Says what it was given to say, and keeps what it was asked."""

    def __init__(self, *turns):
        self.turns = list(turns)
        self.asked = []

    async def get_response(self, system_instructions, input, *more, **named):
        self.asked.append(input)
        return ModelResponse(output=[self.turns.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *more, **named):
        raise NotImplementedError


async def test_an_agent_works_in_a_sandbox():
    call = ResponseFunctionToolCall(
        type="function_call",
        call_id="call_1",
        name="exec_command",
        arguments=json.dumps({"cmd": "echo $((6*7))"}),
    )
    text = ResponseOutputText(type="output_text", text="It is 42.", annotations=[])
    end = ResponseOutputMessage(id="1", type="message", role="assistant", status="completed", content=[text])
    model = Played(call, end)
    agent = SandboxAgent(name="calculator", instructions="Compute.", model=model)
    sandbox = SandboxRunConfig(client=E2BSandboxClient(), options=options())
    run = RunConfig(sandbox=sandbox, tracing_disabled=True)
    result = await Runner.run(agent, "What is six times seven?", run_config=run)
    assert result.final_output == "It is 42."
    outputs = [item["output"] for item in model.asked[-1] if item.get("type") == "function_call_output"]
    assert len(outputs) == 1 and "42" in str(outputs[0])
