"""Which tool the model may use: every form of `tool_choice`, and the client's own functions beside code."""

import json

import pytest
from words import AUTO, CODE, MODEL, calls, code, kinds, logs, say, turn

PYTHON = {"type": "function", "name": "python"}
ONLY_CODE = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "code_interpreter"}]}
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a town.",
    "parameters": {
        "type": "object",
        "properties": {"town": {"type": "string"}},
        "required": ["town"],
        "additionalProperties": False,
    },
    "strict": True,
}
ASK_WEATHER = {"call": {"name": "weather", "arguments": '{"town":"Ulm"}'}}


@pytest.mark.parametrize(
    ("choice", "first"),
    [
        ("auto", "auto"),
        ("required", "required"),
        ({"type": "code_interpreter"}, PYTHON),
        (ONLY_CODE, {**ONLY_CODE, "tools": [PYTHON]}),
    ],
    ids=["auto", "required", "code_interpreter", "allowed_tools"],
)
def test_a_choice_holds_for_the_first_call_and_is_echoed(client, script, choice, first):
    script(code("6 * 7"), say("42"))
    response = client.responses.create(**CODE, tool_choice=choice)
    assert response.to_dict()["tool_choice"] == choice
    assert response.output_text == "42" and len(calls(response)) == 1
    one, two = script.asked()
    assert one.get("tool_choice", "auto") == first
    # Otherwise the model could never end.
    relaxed = two.get("tool_choice", "auto")
    assert relaxed == "auto" or relaxed["mode"] == "auto"


def test_none_means_no_code(client, script):
    script(say("I may not."))
    response = client.responses.create(**CODE, tool_choice="none")
    assert response.tool_choice == "none" and kinds(response.output) == ["message"]
    assert script.asked()[0]["tool_choice"] == "none"


@pytest.mark.parametrize("replayed", [False, True], ids=["by previous_response_id", "by replayed items"])
def test_a_function_of_the_client_beside_code(client, script, replayed):
    script(
        code("town = 'Ulm'\nprint(town)"), turn(ASK_WEATHER), code("print('still', town)"), say("Sun in Ulm.")
    )
    tools = {"tools": [AUTO, WEATHER], "model": MODEL, "include": CODE["include"]}
    asked = [{"role": "user", "content": "The weather?"}]
    first = client.responses.create(**tools, input=asked)
    assert kinds(first.output) == ["code_interpreter_call", "function_call"]
    assert first.status == "completed"
    call = first.output[1]
    assert json.loads(call.arguments) == {"town": "Ulm"}
    answer = {"type": "function_call_output", "call_id": call.call_id, "output": "sun"}
    if replayed:
        second = client.responses.create(**tools, input=[*asked, *first.output, answer])
    else:
        second = client.responses.create(**tools, input=[answer], previous_response_id=first.id)
    assert second.output_text == "Sun in Ulm." and logs(second) == "still Ulm\n"
    assert calls(second)[0].container_id == calls(first)[0].container_id
    seen = [item.get("type") for item in script.asked()[2]["input"]]
    assert [kind for kind in seen if kind and kind.startswith("function")] == [
        "function_call",
        "function_call_output",
    ] * 2


def test_code_and_a_function_in_one_turn(client, script):
    script(turn({"code": "print(1)"}, ASK_WEATHER), say("Done."))
    tools = {"tools": [AUTO, WEATHER], "model": MODEL, "include": CODE["include"]}
    with client.responses.stream(**tools, input="Both.") as stream:
        first = stream.until_done().get_final_response()
    assert kinds(first.output) == ["code_interpreter_call", "function_call"]
    assert logs(first) == "1\n"
    answer = {"type": "function_call_output", "call_id": first.output[1].call_id, "output": "sun"}
    second = client.responses.create(**tools, input=[answer], previous_response_id=first.id)
    assert second.output_text == "Done."


def test_no_more_calls_than_max_tool_calls(client, script):
    script(code("print(1)"), code("print(2)"), say("Done."))
    response = client.responses.create(**CODE, max_tool_calls=1)
    assert logs(response) == "1\n" and response.max_tool_calls == 1
    assert response.status == "completed" and response.output_text == "Done."
