"""`responses.create` as a whole answer."""

from words import AUTO, CODE, MODEL, calls, code, kinds, logs, say, turn

TWO_ROUNDS = (
    turn({"reasoning": True}, {"code": "x = 20 + 1\nprint(x)"}),
    turn({"reasoning": True}, {"code": "x * 2"}),
    say("It is 42."),
)


def test_code_runs_and_the_model_answers(client, script):
    script(*TWO_ROUNDS)
    response = client.responses.create(**CODE)
    between = ["reasoning", "code_interpreter_call"]
    assert kinds(response.output) == [*between, *between, "message"]
    assert response.status == "completed" and response.error is None
    assert response.output_text == "It is 42."
    first, second = calls(response)
    assert (first.code, first.status) == ("x = 20 + 1\nprint(x)", "completed")
    assert [output.to_dict() for output in first.outputs] == [{"type": "logs", "logs": "21\n"}]
    assert [output.to_dict() for output in second.outputs] == [{"type": "logs", "logs": "42"}]
    assert first.container_id == second.container_id and first.container_id.startswith("cntr_")
    assert response._request_id


def test_usage_is_the_sum_of_all_turns(client, script):
    usage = {"input_tokens": 100, "cached_tokens": 10, "output_tokens": 7, "reasoning_tokens": 3}
    script(turn({"code": "1"}, usage=usage), say("Done.", usage=usage))
    usage = client.responses.create(**CODE).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (200, 14, 214)
    assert usage.input_tokens_details.cached_tokens == 20
    assert usage.output_tokens_details.reasoning_tokens == 6


def test_the_request_is_echoed_as_it_was_sent(client, script):
    script(code("1"), say("Done."))
    tool = {"type": "code_interpreter", "container": {"type": "auto", "memory_limit": "1g"}}
    fields = {
        "instructions": "Be brief.",
        "metadata": {"a": "b"},
        "temperature": 0.5,
        "parallel_tool_calls": False,
    }
    response = client.responses.create(**{**CODE, "tools": [tool]}, **fields)
    sent = response.to_dict()
    assert sent["tools"] == [tool] and sent["tool_choice"] == "auto" and sent["model"] == MODEL
    assert {name: sent[name] for name in fields} == fields
    # And the model hears of it in each turn.
    for body in script.asked():
        assert {name: body[name] for name in fields} == fields


def test_later_turns_get_what_is_left_of_the_tokens(client, script):
    script(turn({"code": "1"}, usage={"input_tokens": 9, "output_tokens": 20}), say("Done."))
    assert client.responses.create(**CODE, max_output_tokens=500).max_output_tokens == 500
    assert [body["max_output_tokens"] for body in script.asked()] == [500, 480]


def test_outputs_are_null_unless_they_are_included(client, script):
    script(code("print(1)"), say("Done."))
    response = client.responses.create(model=MODEL, input="Compute it.", tools=[AUTO])
    (call,) = calls(response)
    assert call.outputs is None and "outputs" in call.model_fields_set
    again = client.responses.retrieve(response.id, include=CODE["include"])
    assert logs(again) == "1\n"


def test_an_exception_of_the_code_is_told_to_the_model_alone(client, script):
    script(code("undefined_name"), say("It failed."))
    response = client.responses.create(**CODE)
    (call,) = calls(response)
    assert (call.status, call.outputs, response.status) == ("completed", [], "completed")
    assert "NameError" in str(script.asked()[1]["input"][-1]["output"])
