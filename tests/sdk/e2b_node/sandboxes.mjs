// Sandboxes: made, looked at, listed, kept alive, paused, ended.

import assert from 'node:assert/strict';
import { Sandbox } from '@e2b/code-interpreter';
import { Sandbox as BaseSandbox } from 'e2b';
import { allItems, check, until } from './programs.mjs';

check('sandboxes', 'a new sandbox runs and says what it is', async ({ make }) => {
  const sandbox = await make({ timeoutMs: 120_000, metadata: { name: 'a b&c=d', x: 'ž' } });
  assert.equal(await sandbox.isRunning(), true);
  const info = await sandbox.getInfo();
  assert.equal(info.sandboxId, sandbox.sandboxId);
  assert.deepEqual(info.metadata, { name: 'a b&c=d', x: 'ž' });
  assert.equal(info.state, 'running');
  assert.ok(Math.abs(info.endAt - info.startedAt - 120_000) < 5000);
});

check('sandboxes', 'the base SDK has a sandbox too', async ({ key }) => {
  const sandbox = await BaseSandbox.create({ timeoutMs: 60_000, ...key });
  assert.equal((await sandbox.commands.run('echo here')).stdout, 'here\n');
  assert.equal(await sandbox.kill(), true);
});

check('sandboxes', 'environment is seen by code and commands', async ({ make }) => {
  const sandbox = await make({ envs: { FOO: 'bar ž' } });
  assert.equal((await sandbox.runCode("import os; os.environ['FOO']")).text, 'bar ž');
  assert.equal((await sandbox.commands.run('echo $FOO')).stdout, 'bar ž\n');
});

check('sandboxes', 'a kill ends it and a second one finds nothing', async ({ make, key }) => {
  const sandbox = await make();
  assert.equal(await sandbox.kill(), true);
  assert.equal(await sandbox.isRunning(), false);
  assert.equal(await Sandbox.kill(sandbox.sandboxId, key), false);
  assert.deepEqual(await allItems(Sandbox.list(key)), []);
});

check('sandboxes', 'a sandbox ends when its time is over', async ({ make }) => {
  const sandbox = await make({ timeoutMs: 2000 });
  await until(async () => !(await sandbox.isRunning()));
});

check('sandboxes', 'a new timeout counts from now', async ({ make }) => {
  const sandbox = await make({ timeoutMs: 60_000 });
  await sandbox.setTimeout(600_000);
  const left = (await sandbox.getInfo()).endAt - Date.now();
  assert.ok(left > 500_000 && left < 605_000, left);
});

check('sandboxes', 'a client that knows the id joins again', async ({ make, key }) => {
  const sandbox = await make();
  await sandbox.runCode('x = 41');
  const again = await Sandbox.connect(sandbox.sandboxId, key);
  assert.equal((await again.runCode('x + 1')).text, '42');
});

check('sandboxes', 'lists are filtered by metadata and paged', async ({ make, key }) => {
  const made = await Promise.all([0, 1, 2].map((number) => make({ metadata: { mark: 'a b&c=d ž', number: `${number}` } })));
  await make({ metadata: { mark: 'other' } });
  const paginator = Sandbox.list({ ...key, query: { metadata: { mark: 'a b&c=d ž' } }, limit: 2 });
  const first = await paginator.nextItems();
  assert.equal(first.length, 2);
  assert.equal(paginator.hasNext, true);
  const found = [...first, ...(await paginator.nextItems())].map((one) => one.sandboxId);
  assert.equal(paginator.hasNext, false);
  assert.deepEqual(found.sort(), made.map((one) => one.sandboxId).sort());
  assert.equal((await allItems(Sandbox.list(key))).length, 4);
});

check('sandboxes', 'metrics say what is used of what there is', async ({ make }) => {
  const sandbox = await make();
  const metrics = (await until(async () => {
    const all = await sandbox.getMetrics();
    return all.length && all;
  })).at(-1);
  assert.ok(metrics.memUsed > 0 && metrics.memUsed <= metrics.memTotal);
  assert.ok(metrics.cpuCount > 0);
});

check('pause', 'a paused sandbox keeps its state', async ({ make, key }) => {
  const sandbox = await make();
  await sandbox.runCode('x = 41');
  await sandbox.files.write('kept.txt', 'kept');
  assert.notEqual(await sandbox.pause(), false);
  assert.equal(await sandbox.pause(), false);
  assert.equal(await sandbox.isRunning(), false);
  const paused = await allItems(Sandbox.list({ ...key, query: { state: ['paused'] } }));
  assert.deepEqual(paused.map((one) => one.sandboxId), [sandbox.sandboxId]);
  const again = await Sandbox.connect(sandbox.sandboxId, key);
  assert.equal(await again.files.read('kept.txt'), 'kept');
  assert.equal((await again.runCode('x + 1')).text, '42');
});
