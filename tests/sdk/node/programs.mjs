// The real programs that the tests talk to, and a client and a script for each test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';

const TARGET = process.env.SANDGATE_TARGET;

// The shell ends the program when its own standard input closes, which happens even if the tests are killed.
const WITH_ITS_PARENT = '"$@" & cat >/dev/null; kill $!; wait';

async function start(program, log, env, beforeTheAddress) {
  const child = spawn('sh', ['-c', WITH_ITS_PARENT, 'sh', ...program], { env, stdio: ['pipe', 'pipe', log] });
  const [line] = await new Promise((resolve) => createInterface(child.stdout).once('line', (...line) => resolve(line)));
  assert.ok(line.startsWith(beforeTheAddress), `not ready: ${line}`);
  const ended = new Promise((resolve) => child.once('close', resolve));
  const end = () => (child.stdin.end(), ended);
  return { url: line.slice(beforeTheAddress.length), end };
}

function startSandgate(home, model) {
  symlinkSync(join(TARGET, 'test-home', 'runtimes'), join(home, 'runtimes'));
  const config = join(home, 'config.yaml');
  writeFileSync(config, `pool: 2\nupstream: {url: '${model.url}/v1', api: responses}\n`);
  const env = { ...process.env, SANDGATE_HOME: home };
  delete env.OPENAI_API_KEY;
  delete env.RUST_LOG;
  const program = [join(TARGET, 'debug', 'sandgate'), 'serve', '--listen', '127.0.0.1:0', '--config', config];
  return start(program, openSync(join(home, 'server.log'), 'w'), env, 'Sandgate is ready on ');
}

let model;
let gate;
let home;

before(async () => {
  const homes = join(TARGET, 'sdk', 'homes');
  mkdirSync(homes, { recursive: true });
  home = mkdtempSync(join(homes, 'node-'));
  model = await start([join(TARGET, 'debug', 'scripted-model'), '--port', '0'], 'inherit', process.env, 'ready ');
  gate = await startSandgate(home, model);
});

after(async () => {
  await gate.end();
  await model.end();
  rmSync(home, { recursive: true });
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
