"""Streams: the plain iterator, and the `responses.stream()` helper, which checks the order of everything."""

import time

from words import CODE, code, kinds, logs, say, turn

TEXT = "The answer is 42, which is six times seven."
TWO_ROUNDS = (turn({"reasoning": True}, {"code": "x = 6\nprint('six')"}), code("x * 7"), say(TEXT))

IN_A_CALL = [
    "response.output_item.added",
    "response.code_interpreter_call.in_progress",
    "response.code_interpreter_call_code.delta",
    "response.code_interpreter_call_code.done",
    "response.code_interpreter_call.interpreting",
    "response.code_interpreter_call.completed",
    "response.output_item.done",
]
IN_A_MESSAGE = [
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
]
IN_ALL = [
    "response.created",
    "response.in_progress",
    *["response.output_item.added", "response.output_item.done"],
    *IN_A_CALL,
    *IN_A_CALL,
    *IN_A_MESSAGE,
    "response.completed",
]


def without_repeats(kinds):
    return [kind for kind, before in zip(kinds, [None, *kinds]) if kind != before]


def test_the_iterator_gives_every_event_in_order(client, script):
    script(*TWO_ROUNDS)
    with client.responses.create(**CODE, stream=True) as stream:
        events = list(stream)
    assert without_repeats(kinds(events)) == IN_ALL
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = [event for event in events if event.type == "response.code_interpreter_call_code.delta"]
    assert "".join(event.delta for event in deltas) == "x = 6\nprint('six')x * 7"
    added = [event for event in events if event.type == "response.output_item.added"]
    assert [event.output_index for event in added] == [0, 1, 2, 3]
    assert (added[1].item.code, added[1].item.outputs) == ("", [])
    assert events[-1].response.output_text == TEXT
    assert events[-1].response.id == events[0].response.id
    assert logs(events[-1].response) == "six\n42"


def test_the_helper_follows_and_gives_the_final_response(client, script):
    script(*TWO_ROUNDS)
    with client.responses.stream(**CODE) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert without_repeats(kinds(events)) == IN_ALL
    texts = [event for event in events if event.type == "response.output_text.delta"]
    assert texts[-1].snapshot == TEXT
    assert final.output_text == TEXT and final.status == "completed"
    assert logs(final) == "six\n42"
    assert client.responses.retrieve(final.id).output_text == TEXT


def test_events_come_while_the_model_still_speaks(client, script):
    script(turn({"code": "print('a line of code that takes a while')"}, delta_delay_ms=2000))
    with client.responses.create(**CODE, stream=True) as stream:
        next(event for event in stream if event.type == "response.code_interpreter_call_code.delta")
    # Whoever leaves after the first piece leaves a model that still speaks: nothing was held back.
    deadline = time.monotonic() + 60
    while not script.was_left():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_obfuscation_can_be_left_out(client, script):
    script(code("1"), say("Done."), code("1"), say("Done."))
    for wanted in (True, False):
        options = {"include_obfuscation": wanted}
        events = list(client.responses.create(**CODE, stream=True, stream_options=options))
        deltas = [event for event in events if event.type.endswith(".delta")]
        assert deltas and all(("obfuscation" in event.to_dict()) == wanted for event in deltas)
