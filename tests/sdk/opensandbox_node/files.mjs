// Files and folders.

import assert from 'node:assert/strict';
import { check } from './programs.mjs';

check('files are written, read, found and removed', async ({ make }) => {
  const sandbox = await make();
  await sandbox.files.createDirectories([{ path: '/tmp/demo', mode: 755 }]);
  const everything = Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 256);
  await sandbox.files.writeFiles([
    { path: '/tmp/demo/hello.txt', data: 'Hello žluť', mode: 644 },
    { path: '/tmp/demo/all.bin', data: everything, mode: 600 },
  ]);
  assert.equal(await sandbox.files.readFile('/tmp/demo/hello.txt'), 'Hello žluť');
  assert.deepEqual(new Uint8Array(await sandbox.files.readBytes('/tmp/demo/all.bin')), everything);
  const found = await sandbox.files.search({ path: '/tmp/demo', pattern: '*.txt' });
  assert.deepEqual(found.map((file) => file.path), ['/tmp/demo/hello.txt']);
  const info = await sandbox.files.getFileInfo(['/tmp/demo/all.bin']);
  assert.equal(info['/tmp/demo/all.bin'].mode, 600);
  await sandbox.files.deleteFiles(['/tmp/demo/hello.txt']);
  await assert.rejects(sandbox.files.readFile('/tmp/demo/hello.txt'));
  await sandbox.files.deleteDirectories(['/tmp/demo']);
  const metrics = await sandbox.getMetrics();
  assert.ok(metrics.cpuCount > 0 && metrics.memoryTotalMiB > 0);
});
