// The real programs that the tests talk to, and a client and a script for each test.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { TARGET, sandgate, started } from './started.mjs';

let model;
let gate;

before(async () => {
  model = await started([join(TARGET, 'debug', 'scripted-model'), '--port', '0'], 'inherit', process.env, 'ready ');
  gate = await sandgate('node', `pool: 2\nupstream: {url: '${model.url}/v1', api: responses}\n`);
});

after(async () => {
  await gate.end();
  await model.end();
});

let number = 0;

/** A test whose client has a key of its own, for which the model has this script. */
export function scripted(name, turns, run) {
  test(name, { timeout: 60_000 }, async () => {
    const key = `sk-node-${number++}`;
    const body = JSON.stringify({ turns });
    const put = await fetch(`${model.url}/_script/${key}`, { method: 'PUT', body });
    assert.equal(put.status, 204, await put.text());
    const client = new OpenAI({ baseURL: `${gate.url}/v1`, apiKey: key, maxRetries: 0, timeout: 50_000 });
    await run(client);
    const violations = await fetch(`${model.url}/_violations/${key}`);
    assert.deepEqual(await violations.json(), []);
  });
}
