"""Errors, as the SDK's own exceptions: ours in the words of the original, the upstream's as they came."""

import openai
import pytest
from words import CODE, MODEL, code, kinds, logs, say, turn

STRANGER = "cntr_" + "6a3d55ad" + "0" * 40
LIMIT = {"error": {"message": "Slow down.", "type": "tokens", "param": None, "code": "rate_limit_exceeded"}}


def refused(kind, client, **fields):
    with pytest.raises(kind) as caught:
        client.responses.create(**{**CODE, **fields})
    assert set(caught.value.body) == {"message", "type", "param", "code"}
    assert caught.value.request_id
    return caught.value


def test_a_missing_container(client):
    error = refused(openai.BadRequestError, client, tools=[{"type": "code_interpreter"}])
    assert error.body["message"] == "Missing required parameter: 'tools[0].container'."
    assert (error.type, error.param) == ("invalid_request_error", "tools[0].container")


def test_an_unknown_field_of_the_container(client):
    tool = {"type": "code_interpreter", "container": {"type": "auto", "files": []}}
    error = refused(openai.BadRequestError, client, tools=[tool])
    assert error.body == {
        "message": "Unknown parameter: 'tools[0].container.files'.",
        "type": "invalid_request_error",
        "param": "tools[0].container.files",
        "code": "unknown_parameter",
    }


def test_a_container_that_there_is_not_and_one_of_somebody_else(client, scripts):
    stranger = client.with_options(api_key=scripts().key)
    theirs = stranger.containers.create(name="theirs")
    for container in (STRANGER, theirs.id):
        tool = {"type": "code_interpreter", "container": container}
        error = refused(openai.NotFoundError, client, tools=[tool])
        assert error.body["message"] == f"Container with id '{container}' not found."
        with pytest.raises(openai.NotFoundError):
            client.containers.files.list(container)


def test_an_earlier_response_that_there_is_not(client, script):
    absent = "resp_" + "0" * 50
    words = {"message": f"Previous response with id '{absent}' not found.", "type": "invalid_request_error"}
    words |= {"param": "previous_response_id", "code": "previous_response_not_found"}
    # Whether the upstream has it is for the upstream to say.
    script(turn(http={"status": 400, "body": {"error": words}}, foreign=True))
    error = refused(openai.BadRequestError, client, previous_response_id=absent)
    assert error.body == words


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_rate_limit_of_the_upstream(client, script, streamed):
    limit = turn(http={"status": 429, "headers": {"retry-after": "7"}, "body": LIMIT})
    script(limit, limit, limit, limit)
    error = refused(openai.RateLimitError, client, stream=streamed)
    assert error.body == LIMIT["error"] and error.code == "rate_limit_exceeded"
    assert error.response.headers["retry-after"] == "7"


def test_a_failure_in_mid_stream(client, script):
    failing = say("Half of", status="failed", error={"code": "server_error", "message": "It broke."})
    script(code("print(1)"), failing)
    seen = []
    with pytest.raises(openai.APIError, match="It broke.") as caught:
        for event in client.responses.create(**CODE, stream=True):
            seen.append(event)
    assert caught.value.code == "server_error"
    assert "response.code_interpreter_call.completed" in kinds(seen)
    assert "error" not in kinds(seen)


def test_a_response_that_failed_can_be_looked_at(client, script):
    failing = say("Half of", status="failed", error={"code": "server_error", "message": "It broke."})
    script(code("print(1)"), failing)
    with pytest.raises(openai.APIError):
        stream = client.responses.create(**CODE, stream=True)
        response_id = next(iter(stream)).response.id
        list(stream)
    kept = client.responses.retrieve(response_id, include=CODE["include"])
    assert (kept.status, kept.error.code) == ("failed", "server_error")
    assert logs(kept) == "1\n"


def test_a_connection_that_is_cut(client, script):
    script(code("print(1)"), say("A text that is never said to its end.", cut_after=6))
    seen = []
    with pytest.raises(openai.APIError) as caught:
        for event in client.responses.create(**CODE, stream=True):
            seen.append(event)
    assert type(caught.value) is openai.APIError, "an error event, not a broken connection of ours"
    assert "response.code_interpreter_call.completed" in kinds(seen)


def test_a_connection_that_is_cut_before_a_whole_answer(client, script):
    cut = say("A text that is never said to its end.", cut_after=6)
    script(code("print(1)"), cut, cut, cut)
    error = refused(openai.InternalServerError, client)
    assert error.status_code == 502


def test_an_incomplete_answer_is_no_error(client, script):
    short = say(
        "Half of", status="incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}
    )
    script(code("print(1)"), short)
    response = client.responses.create(**CODE)
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert response.output_text == "Half of"


def test_models_and_paths(client):
    assert MODEL in [model.id for model in client.models.list()]
    with pytest.raises(openai.NotFoundError):
        client.get("/no/such/path", cast_to=object)
