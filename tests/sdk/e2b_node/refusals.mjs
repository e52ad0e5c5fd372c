// Bad input: a clear error of the SDK's own kind.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { NotFoundError, Sandbox, SandboxError } from '@e2b/code-interpreter';
import { allItems, check } from './programs.mjs';

const UNKNOWN = 'iunknown0000000000000';

check('refusals', 'an unknown sandbox is not found', async ({ key }) => {
  await assert.rejects(Sandbox.connect(UNKNOWN, key), NotFoundError);
  await assert.rejects(Sandbox.getInfo(UNKNOWN, key), NotFoundError);
  assert.equal(await Sandbox.kill(UNKNOWN, key), false);
});

check('refusals', 'a killed sandbox says that it is gone', async ({ make }) => {
  const sandbox = await make();
  await sandbox.kill();
  for (const call of [() => sandbox.runCode('1'), () => sandbox.files.read('a'), () => sandbox.commands.run('true')]) {
    await assert.rejects(call(), SandboxError);
  }
});

check('refusals', 'a sandbox of another key does not exist', async ({ make }) => {
  const sandbox = await make();
  const other = { apiKey: `e2b_${randomBytes(20).toString('hex')}` };
  assert.deepEqual(await allItems(Sandbox.list(other)), []);
  await assert.rejects(Sandbox.connect(sandbox.sandboxId, other), NotFoundError);
  assert.equal(await Sandbox.kill(sandbox.sandboxId, other), false);
  assert.equal(await sandbox.isRunning(), true);
});

check('refusals', 'an unknown template is named', async ({ key }) => {
  await assert.rejects(Sandbox.create('no-such-template', key), /no-such-template/);
});
