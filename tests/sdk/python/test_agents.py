"""OpenAI's Agents SDK with its CodeInterpreterTool."""

import asyncio

import pytest
from agents import (
    Agent,
    CodeInterpreterTool,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from words import AUTO, MODEL, code, say, turn

set_tracing_disabled(True)
ROUNDS = (turn({"reasoning": True}, {"code": "kept = 42\nprint(kept)"}), say("It is 42."))


@pytest.fixture
def run(settings):
    """Runs a piece of work with an agent that has the tool."""

    def run(work):
        async def main():
            async with AsyncOpenAI(**settings) as client:
                tool = CodeInterpreterTool(tool_config=AUTO)
                model = OpenAIResponsesModel(model=MODEL, openai_client=client)
                return await work(Agent(name="Reckoner", instructions="Reckon.", model=model, tools=[tool]))

        return asyncio.run(main())

    return run


def code_calls(result):
    raw = [item.raw_item for item in result.new_items if item.type == "tool_call_item"]
    return [item for item in raw if item.type == "code_interpreter_call"]


def test_run(run, script):
    script(*ROUNDS)
    result = run(lambda agent: Runner.run(agent, "Reckon."))
    assert result.final_output == "It is 42."
    (call,) = code_calls(result)
    assert call.code == "kept = 42\nprint(kept)"


def test_run_streamed_as_in_the_example_of_the_sdk(run, script):
    """Its own example fails unless it sees the call and its code while it streams."""
    script(*ROUNDS)

    async def work(agent):
        result = Runner.run_streamed(agent, "Reckon.")
        codes = []
        async for event in result.stream_events():
            item = getattr(event, "item", None)
            if event.type == "run_item_stream_event" and item.type == "tool_call_item":
                if item.raw_item.type == "code_interpreter_call":
                    codes.append(item.raw_item.code)
        return codes, result.final_output

    assert run(work) == (["kept = 42\nprint(kept)"], "It is 42.")


def test_a_session_keeps_the_container(run, script):
    script(*ROUNDS, code("print(kept + 1)"), say("It is 43."))

    async def work(agent):
        session = SQLiteSession("talk")
        return [await Runner.run(agent, text, session=session) for text in ("Reckon.", "And one more?")]

    first, second = run(work)
    assert second.final_output == "It is 43."
    assert code_calls(second)[0].container_id == code_calls(first)[0].container_id
    # The next turn of the model was told what the first one computed.
    assert "42" in str(script.asked()[2]["input"]) and "43" in str(script.asked()[3]["input"])
