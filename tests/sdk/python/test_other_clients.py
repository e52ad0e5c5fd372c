"""Other clients, which read code calls with types of their own: LangChain and pydantic-ai."""

import asyncio

import pytest
from langchain_openai import ChatOpenAI
from pydantic_ai import Agent, CodeExecutionTool
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider
from words import AUTO, MODEL, OUTPUTS, code, say

FIGURE = "import matplotlib.pyplot as plt\nkept = 42\nplt.plot([1, 4, 9])\nplt.show()"
PLOT = (code(FIGURE), say("Here."))
RECALL = (code("print(kept)"), say("It is 42."))


@pytest.fixture
def langchain(gate, script):
    settings = {"base_url": f"{gate.url}/v1", "api_key": script.key, "max_retries": 0}
    model = ChatOpenAI(model=MODEL, use_responses_api=True, include=[OUTPUTS], **settings)
    return model.bind_tools([AUTO])


@pytest.fixture
def pydantic_agent(gate, script):
    provider = OpenAIProvider(base_url=f"{gate.url}/v1", api_key=script.key)
    return Agent(
        OpenAIResponsesModel(MODEL, provider=provider),
        capabilities=[NativeTool(CodeExecutionTool())],
        model_settings=OpenAIResponsesModelSettings(openai_include_code_execution_outputs=True),
    )


def recalled(script):
    """The second talk was told what the first one did, and ran in the same container."""
    plotted, shown = script.asked()[2:]
    return "kept = 42" in str(plotted["input"]) and "42" in str(shown["input"][-1]["output"])


def test_langchain_whole_and_streamed(langchain, script):
    script(*PLOT, *PLOT)
    whole = langchain.invoke("Plot.")
    chunks = list(langchain.stream("Plot."))
    streamed = sum(chunks[1:], chunks[0])
    for message in (whole, streamed):
        assert message.text == "Here."
        (call,) = [part for part in message.content if part["type"] == "code_interpreter_call"]
        assert (call["code"], call["outputs"][0]["type"]) == (FIGURE, "image")


def test_langchain_goes_on_by_replay(langchain, script):
    script(*PLOT, *RECALL)
    first = langchain.invoke("Plot.")
    second = langchain.invoke([("user", "Plot."), first, ("user", "And the number?")])
    assert second.text == "It is 42." and recalled(script)


def test_pydantic_ai_whole_and_streamed(pydantic_agent, script):
    script(*PLOT, *PLOT)

    async def both():
        whole = await pydantic_agent.run("Plot.")
        async with pydantic_agent.run_stream("Plot.") as streamed:
            return whole.output, await streamed.get_output(), whole.response, streamed.response

    one, two, *responses = asyncio.run(both())
    assert (one, two) == ("Here.", "Here.")
    for response in responses:
        assert [file.media_type for file in response.files] == ["image/png"]
        ((call, result),) = response.native_tool_calls
        assert FIGURE in call.args_as_json_str().encode().decode("unicode_escape")
        assert result.content["status"] == "completed"


def test_pydantic_ai_goes_on_by_replay(pydantic_agent, script):
    script(*PLOT, *RECALL)

    async def talk():
        first = await pydantic_agent.run("Plot.")
        return await pydantic_agent.run("And the number?", message_history=first.all_messages())

    assert asyncio.run(talk()).output == "It is 42." and recalled(script)
