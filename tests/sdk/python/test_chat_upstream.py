"""The same answers from an upstream that has only Chat Completions."""

import pytest
from openai import OpenAI
from words import AUTO, CODE, calls, code, kinds, logs, say, turn


@pytest.fixture
def client(settings, chat_gate):
    with OpenAI(**{**settings, "base_url": f"{chat_gate.url}/v1"}) as client:
        yield client


def test_whole_and_streamed_are_the_same(client, script):
    rounds = (code("x = 6\nprint('six')"), code("x * 7"), say("It is 42."))
    script(*rounds, *rounds)
    whole = client.responses.create(**CODE)
    with client.responses.stream(**CODE) as stream:
        events = list(stream)
        final = stream.get_final_response()
    for response in (whole, final):
        assert kinds(response.output) == ["code_interpreter_call"] * 2 + ["message"]
        assert logs(response) == "six\n42" and response.output_text == "It is 42."
        assert response.usage.input_tokens == 300
    assert kinds(events).count("response.code_interpreter_call_code.delta") > 2
    assert all("messages" in body for body in script.asked())


def test_a_function_beside_code_and_what_is_kept(client, script):
    weather = {
        "type": "function",
        "name": "weather",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
    call = {"call": {"name": "weather", "arguments": "{}"}}
    script(code("kept = 1"), turn(call), code("print(kept)"), say("Sun."))
    fields = {**CODE, "tools": [AUTO, weather]}
    first = client.responses.create(**fields)
    assert kinds(first.output) == ["code_interpreter_call", "function_call"]
    answer = {"type": "function_call_output", "call_id": first.output[1].call_id, "output": "sun"}
    second = client.responses.create(**{**fields, "input": [answer]}, previous_response_id=first.id)
    assert logs(second) == "1\n" and second.output_text == "Sun."
    assert calls(second)[0].container_id == calls(first)[0].container_id
