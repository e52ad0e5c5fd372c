"""Code on Chat Completions with the SDK as it is: plain completions, and what ran in an extra field."""

import openai
import pytest
from openai import OpenAI
from programs import Sandgate
from words import MODEL, code, say, turn

TOOL = {"type": "code_interpreter"}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
ASK = [{"role": "user", "content": "Compute it."}]
CHAT = {"model": MODEL, "messages": ASK, "tools": [TOOL]}
TWO_ROUNDS = (turn({"text": "Let me see."}, {"code": "x = 6\nprint('six')"}), code("x * 7"), say("It is 42."))


@pytest.fixture(params=["responses", "chat"])
def client(request, settings, gate, chat_gate):
    """In front of both kinds of upstream."""
    url = {"responses": gate, "chat": chat_gate}[request.param].url
    with OpenAI(**{**settings, "base_url": f"{url}/v1"}) as client:
        yield client


def ran(message):
    return message.model_extra["code_interpreter"]


def logs(ran):
    return [[output["logs"] for output in call["outputs"]] for call in ran["calls"]]


def test_code_runs_and_the_model_answers(client, script):
    script(*TWO_ROUNDS)
    completion = client.chat.completions.create(**CHAT)
    (choice,) = completion.choices
    assert (choice.finish_reason, choice.message.tool_calls) == ("stop", None)
    assert choice.message.content == "Let me see.\n\nIt is 42."
    assert logs(ran(choice.message)) == [["six\n"], ["42"]]
    assert completion.usage.total_tokens == 360
    assert completion._request_id


def test_streamed(client, script):
    script(*TWO_ROUNDS)
    chunks = list(client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}))
    assert len({chunk.id for chunk in chunks}) == 1
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Let me see.\n\nIt is 42."
    assert chunks[-1].usage.total_tokens == 360 and chunks[-1].choices == []
    assert all(not chunk.choices or chunk.choices[0].delta.tool_calls is None for chunk in chunks)


def test_the_sdk_puts_the_deltas_together_by_itself(client, script):
    script(*TWO_ROUNDS)
    with client.chat.completions.stream(**CHAT) as stream:
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    assert message.content == "Let me see.\n\nIt is 42."
    assert logs(ran(message)) == [["six\n"], ["42"]]
    assert [call["code"] for call in ran(message)["calls"]] == ["x = 6\nprint('six')", "x * 7"]
    assert [call["status"] for call in ran(message)["calls"]] == ["completed", "completed"]
    assert ran(message)["container_id"].startswith("cntr_")


def test_a_message_sent_back_goes_on_in_its_container(client, script):
    call = {"call": {"name": "weather", "arguments": "{}"}}
    script(turn({"code": "kept = 1"}, call), code("print(kept)"), say("Sun."))
    fields = {**CHAT, "tools": [TOOL, WEATHER]}
    first = client.chat.completions.create(**fields).choices[0]
    assert first.finish_reason == "tool_calls"
    (asked,) = first.message.tool_calls
    assert asked.function.name == "weather"
    answer = {"role": "tool", "tool_call_id": asked.id, "content": "sun"}
    second = client.chat.completions.create(**{**fields, "messages": [*ASK, first.message, answer]}).choices[0]
    assert second.message.content == "Sun."
    assert logs(ran(second.message)) == [["1\n"]]
    assert ran(second.message)["container_id"] == ran(first.message)["container_id"]
    roles = [message["role"] for message in script.asked()[1]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]


def test_files_can_be_fetched(client, script):
    script(code("open('/mnt/data/a.csv', 'w').write('1')"), say("Done."))
    (file,) = ran(client.chat.completions.create(**CHAT).choices[0].message)["files"]
    assert (file["filename"], file["path"]) == ("a.csv", "/mnt/data/a.csv")
    content = client.containers.files.content.retrieve(file["file_id"], container_id=file["container_id"])
    assert content.read() == b"1"


def test_errors_are_raised(client, script):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**CHAT, n=2)
    assert caught.value.param == "n"
    error = {"message": "Too large.", "type": "invalid_request_error", "param": None, "code": "big"}
    script(*[code("1"), {"http": {"status": 413, "body": {"error": error}}}] * 2)
    with pytest.raises(openai.APIStatusError) as caught:
        client.chat.completions.create(**CHAT)
    assert caught.value.status_code == 413 and caught.value.body["message"] == "Too large."
    with pytest.raises(openai.APIError, match="Too large."):
        list(client.chat.completions.create(**CHAT, stream=True))


def test_other_paths_are_passed_on(client, script):
    one = {"object": "embedding", "index": 0, "embedding": [0.5]}
    listed = {"object": "list", "model": "m", "data": [one], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    script({"path": "/v1/embeddings", "http": {"body": listed}})
    assert client.embeddings.create(model="m", input="x").data[0].embedding == [0.5]
    with pytest.raises(openai.NotFoundError):
        client.fine_tuning.jobs.list()
    assert client.models.retrieve(MODEL).id == MODEL


def test_loopback_answers_here_too():
    gate = Sandgate()
    with OpenAI(base_url=f"{gate.url}/v1", api_key="none") as client:
        messages = [{"role": "user", "content": "```python\nprint(6 * 7)\n```"}]
        fields = {"model": "loopback", "messages": messages, "tools": [TOOL]}
        message = client.chat.completions.create(**fields).choices[0].message
        assert message.content == "42" and logs(ran(message)) == [["42\n"]]
        chunks = client.chat.completions.create(**fields, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "42"
        plain = client.chat.completions.create(model="loopback", messages=[{"role": "user", "content": "hi"}])
        assert "stand-in" in plain.choices[0].message.content
    gate.end()
