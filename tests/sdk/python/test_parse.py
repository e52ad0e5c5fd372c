"""Structured output beside code."""

from pydantic import BaseModel
from words import CODE, calls, code, say


class Product(BaseModel):
    value: int
    factors: list[int]


ROUNDS = (code("6 * 7"), say('{"value": 42, "factors": [6, 7]}'))
EXPECTED = Product(value=42, factors=[6, 7])


def test_parse_gives_an_object(client, script):
    script(*ROUNDS)
    response = client.responses.parse(**CODE, text_format=Product)
    assert response.output_parsed == EXPECTED and len(calls(response)) == 1
    for body in script.asked():
        assert (body["text"]["format"]["type"], body["text"]["format"]["name"]) == ("json_schema", "Product")


def test_the_stream_helper_parses_too(client, script):
    script(*ROUNDS)
    with client.responses.stream(**CODE, text_format=Product) as stream:
        done = [event for event in stream if event.type == "response.output_text.done"]
        assert stream.get_final_response().output_parsed == EXPECTED
    assert done[-1].parsed == EXPECTED
