// The life of a sandbox.

import assert from 'node:assert/strict';
import { Sandbox, SandboxException, SandboxManager } from '@alibaba-group/opensandbox';
import { check } from './programs.mjs';

check('a sandbox is made, found, put off and ended', async ({ make, connectionConfig }) => {
  const sandbox = await make({ metadata: { who: 'alice' }, timeoutSeconds: 300 });
  const info = await sandbox.getInfo();
  assert.equal(info.status.state, 'Running');
  assert.equal(info.metadata.who, 'alice');
  const again = await Sandbox.connect({ sandboxId: sandbox.id, connectionConfig });
  assert.equal((await again.commands.run('echo hi')).logs.stdout[0].text, 'hi');
  await again.close();
  const { expiresAt } = await sandbox.renew(30 * 60);
  assert.ok(new Date(expiresAt) > new Date(info.expiresAt));
  const manager = SandboxManager.create({ connectionConfig });
  const list = await manager.listSandboxInfos({ states: ['Running'], pageSize: 10 });
  assert.deepEqual(list.items.map((item) => item.id), [sandbox.id]);
  await manager.close();
  await sandbox.kill();
  await assert.rejects(sandbox.getInfo(), SandboxException);
});

check('a paused sandbox goes on where it was', async ({ make }) => {
  const sandbox = await make();
  await sandbox.files.writeFiles([{ path: 'kept.txt', data: 'kept' }]);
  await sandbox.pause();
  assert.equal((await sandbox.getInfo()).status.state, 'Paused');
  const resumed = await sandbox.resume();
  assert.equal(await resumed.files.readFile('kept.txt'), 'kept');
  await resumed.close();
});

check('a sandbox without an end', async ({ make }) => {
  const sandbox = await make({ timeoutSeconds: null });
  assert.equal((await sandbox.getInfo()).expiresAt ?? null, null);
});

check('an image that is not there is said', async ({ make }) => {
  await assert.rejects(make({ image: 'no/such-image:1' }), /no\/such-image/);
});
