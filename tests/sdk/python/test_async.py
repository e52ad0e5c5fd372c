"""The asynchronous client, and many requests at once, each in a sandbox of its own."""

import asyncio

from openai import AsyncOpenAI
from words import CODE, calls, code, kinds, logs, say

LOOK_ROUND = """import os
open('/mnt/data/{0}.txt', 'x').write('{0}')
print(os.listdir('/mnt/data'), 'secret' in globals())
secret = 1"""


def test_twenty_requests_at_once_do_not_see_each_other(settings, scripts):
    made = [scripts() for _ in range(20)]
    for number, script in enumerate(made):
        script(code(LOOK_ROUND.format(number)), say(f"I am {number}."))

    async def all_at_once():
        async with AsyncOpenAI(**settings) as client:
            each = [client.with_options(api_key=script.key).responses.create(**CODE) for script in made]
            return await asyncio.gather(*each)

    responses = asyncio.run(all_at_once())
    for number, response in enumerate(responses):
        assert response.output_text == f"I am {number}."
        assert logs(response) == f"['{number}.txt'] False\n"
    assert len({calls(response)[0].container_id for response in responses}) == 20


def test_streams_and_their_helper(settings, script):
    script(code("6 * 7"), say("42"), code("6 * 7"), say("42"))

    async def both():
        async with AsyncOpenAI(**settings) as client:
            plain = [event async for event in await client.responses.create(**CODE, stream=True)]
            async with client.responses.stream(**CODE) as stream:
                helped = [event async for event in stream]
                final = await stream.get_final_response()
        return plain, helped, final

    plain, helped, final = asyncio.run(both())
    assert kinds(plain) == kinds(helped) and plain[-1].type == "response.completed"
    assert final.output_text == "42" and logs(final) == "42"
