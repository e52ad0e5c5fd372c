// Errors, as the SDK's own classes.

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { scripted } from './programs.mjs';
import { CODE, all, code, say } from './words.mjs';

scripted('a missing container', [], async (client) => {
  const request = client.responses.create({ ...CODE, tools: [{ type: 'code_interpreter' }] });
  await assert.rejects(request, (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.error.message, "Missing required parameter: 'tools[0].container'.");
    assert.equal(error.param, 'tools[0].container');
    return true;
  });
});

const body = { error: { message: 'Slow down.', type: 'tokens', param: null, code: 'rate_limit_exceeded' } };
const limit = { http: { status: 429, headers: { 'retry-after': '7' }, body } };

scripted('a rate limit of the upstream', [limit, limit, limit], async (client) => {
  await assert.rejects(client.responses.create(CODE), (error) => {
    assert.ok(error instanceof OpenAI.RateLimitError);
    assert.deepEqual(error.error, body.error);
    assert.equal(error.headers.get('retry-after'), '7');
    return true;
  });
});

const failing = say('Half of', { status: 'failed', error: { code: 'server_error', message: 'It broke.' } });

for (const helper of [false, true]) {
  scripted(`a failure in mid-stream, ${helper ? 'by the helper' : 'iterated'}`, [code('1'), failing], async (client) => {
    const stream = helper ? client.responses.stream(CODE) : await client.responses.create({ ...CODE, stream: true });
    await assert.rejects(all(stream), (error) => {
      assert.ok(error instanceof OpenAI.APIError);
      assert.match(error.message, /It broke\./);
      return true;
    });
  });
}
