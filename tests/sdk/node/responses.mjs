// Responses: whole, streamed, through the helper, in the background.

import assert from 'node:assert/strict';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { scripted } from './programs.mjs';
import { CODE, all, calls, code, logs, say, types } from './words.mjs';

const reasoned = { items: [{ reasoning: true }, { code: "x = 6\nprint('six')" }] };
const rounds = [reasoned, code('x * 7'), say('It is 42, as ever.')];
const all_types = ['reasoning', 'code_interpreter_call', 'code_interpreter_call', 'message'];

scripted('a whole response', rounds, async (client) => {
  const response = await client.responses.create(CODE);
  assert.deepEqual(types(response.output), all_types);
  assert.equal(response.output_text, 'It is 42, as ever.');
  assert.equal(logs(response), 'six\n42');
  assert.match(response._request_id, /./);
});

scripted('a stream as an iterator', rounds, async (client) => {
  const events = await all(await client.responses.create({ ...CODE, stream: true }));
  assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, index) => index));
  const deltas = events.filter((event) => event.type === 'response.code_interpreter_call_code.delta');
  assert.equal(deltas.map((event) => event.delta).join(''), "x = 6\nprint('six')x * 7");
  assert.equal(events.at(-1).type, 'response.completed');
  assert.equal(logs(events.at(-1).response), 'six\n42');
});

scripted('the stream helper, which checks every event', rounds, async (client) => {
  const stream = client.responses.stream(CODE);
  const texts = [];
  stream.on('response.output_text.delta', (event) => texts.push(event.snapshot));
  const events = await all(stream);
  const final = await stream.finalResponse();
  assert.equal(texts.at(-1), 'It is 42, as ever.');
  assert.deepEqual(types(final.output), all_types);
  assert.equal(final.output_text, 'It is 42, as ever.');
  assert.equal(logs(final), 'six\n42');
  assert.equal(events.at(-1).type, 'response.completed');
});

const Product = z.object({ value: z.number() });

scripted('structured output beside code', [code('6 * 7'), say('{"value": 42}')], async (client) => {
  const text = { format: zodTextFormat(Product, 'product') };
  const response = await client.responses.parse({ ...CODE, text });
  assert.deepEqual(response.output_parsed, { value: 42 });
});

const slow = code("import time\ntime.sleep(0.3)\nprint('slept')");

scripted('one in the background is taken up again', [slow, say('Done.')], async (client) => {
  const begun = await client.responses.create({ ...CODE, background: true, stream: true });
  const { value: created } = await begun[Symbol.asyncIterator]().next();
  begun.controller.abort();
  const stream = client.responses.stream({ response_id: created.response.id, starting_after: 3 });
  const events = await all(stream);
  assert.equal(events[0].sequence_number, 4);
  const final = await stream.finalResponse();
  assert.equal(final.output_text, 'Done.');
  assert.equal(logs(final), 'slept\n');
});

const talk = [code('kept = 42'), say('Kept.'), code('print(kept)'), say('It is 42.')];

scripted('a response goes on from an earlier one', talk, async (client) => {
  const first = await client.responses.create(CODE);
  const second = await client.responses.create({ ...CODE, previous_response_id: first.id });
  assert.equal(logs(second), '42\n');
  assert.equal(calls(second)[0].container_id, calls(first)[0].container_id);
});
