"""Responses in the background: polled, streamed and taken up again, cancelled."""

import time

import pytest
from openai import BadRequestError
from words import CODE, code, kinds, logs, say

SLOW = code("import time\ntime.sleep(0.3)\nprint('slept')")
VERY_SLOW = code("import time\ntime.sleep(60)")


def until(client, response, done, include=()):
    end = time.monotonic() + 30
    while not done(response):
        assert time.monotonic() < end, response.status
        time.sleep(0.05)
        response = client.responses.retrieve(response.id, include=list(include))
    return response


def test_polled_to_its_end_with_its_outputs(client, script):
    script(SLOW, say("Done."))
    begun = client.responses.create(**CODE, background=True)
    assert begun.status in ("queued", "in_progress") and begun.background
    ended = until(
        client, begun, lambda response: response.status not in ("queued", "in_progress"), CODE["include"]
    )
    assert (ended.id, ended.status, ended.output_text) == (begun.id, "completed", "Done.")
    assert logs(ended) == "slept\n"


def test_a_stream_that_broke_off_is_taken_up_again(client, script):
    script(SLOW, say("Done."))
    with client.responses.create(**CODE, background=True, stream=True) as stream:
        first = [event for event, _ in zip(stream, range(6))]
    assert first[0].type == "response.created" and first[0].response.status == "queued"
    response_id, last = first[0].response.id, first[-1].sequence_number
    with client.responses.retrieve(response_id, stream=True, starting_after=last) as stream:
        rest = list(stream)
    numbers = [event.sequence_number for event in [*first, *rest]]
    assert numbers == list(range(len(numbers)))
    assert rest[-1].type == "response.completed" and rest[-1].response.output_text == "Done."
    # And from the beginning, after its end.
    again = list(client.responses.retrieve(response_id, stream=True))
    assert kinds(again) == kinds([*first, *rest])


def test_the_helper_takes_one_up(client, script):
    script(SLOW, say("Done."))
    begun = client.responses.create(**CODE, background=True, stream=True)
    response_id = next(iter(begun)).response.id
    begun.close()
    with client.responses.stream(response_id=response_id, starting_after=3) as stream:
        numbers = [event.sequence_number for event in stream]
        assert stream.get_final_response().output_text == "Done."
    assert numbers[0] == 4


def test_cancelled(client, script):
    script(VERY_SLOW, say("Never said."))
    begun = client.responses.create(**CODE, background=True)
    until(client, begun, lambda response: response.status == "in_progress")
    cancelled = client.responses.cancel(begun.id)
    assert (cancelled.id, cancelled.status) == (begun.id, "cancelled")
    assert client.responses.retrieve(begun.id).status == "cancelled"
    # A second time is as good as the first.
    assert client.responses.cancel(begun.id).status == "cancelled"
    assert len(script.asked()) <= 1


def test_only_what_is_in_the_background_can_be_cancelled(client, script):
    script(code("1"), say("Done."))
    response = client.responses.create(**CODE)
    with pytest.raises(BadRequestError):
        client.responses.cancel(response.id)
