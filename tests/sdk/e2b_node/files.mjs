// Files and watches.

import assert from 'node:assert/strict';
import { NotFoundError } from '@e2b/code-interpreter';
import { check, until } from './programs.mjs';

check('files', 'text and bytes come back as they were written', async ({ make }) => {
  const { files } = await make();
  const written = await files.write('/home/user/a.txt', 'hello ž\n');
  assert.deepEqual([written.name, written.path, written.type], ['a.txt', '/home/user/a.txt', 'file']);
  assert.equal(await files.read('a.txt'), 'hello ž\n');
  const bytes = Uint8Array.from({ length: 2560 }, (_, index) => index % 256);
  await files.write('bytes.bin', bytes.buffer);
  assert.deepEqual(await files.read('bytes.bin', { format: 'bytes' }), bytes);
  const blob = await files.read('bytes.bin', { format: 'blob' });
  assert.equal(blob.size, 2560);
  await files.write('empty', '');
  assert.equal(await files.read('empty'), '');
});

check('files', 'a stream reads a large file in pieces', async ({ make }) => {
  const { files } = await make();
  await files.write('large.bin', new Blob([new Uint8Array(8 * 1024 * 1024).fill(7)]));
  let length = 0;
  for await (const piece of await files.read('large.bin', { format: 'stream' })) {
    assert.ok(piece.every((byte) => byte === 7));
    length += piece.length;
  }
  assert.equal(length, 8 * 1024 * 1024);
});

check('files', 'several files in one request', async ({ make }) => {
  const { files } = await make();
  const written = await files.write([{ path: 'd/b.txt', data: 'bee' }, { path: '/tmp/c.txt', data: 'sea' }]);
  assert.deepEqual(written.map((one) => one.path), ['/home/user/d/b.txt', '/tmp/c.txt']);
  assert.equal(await files.read('/tmp/c.txt'), 'sea');
});

check('files', 'folders are made, listed, and their entries moved and removed', async ({ make }) => {
  const { files } = await make();
  assert.equal(await files.makeDir('f/sub'), true);
  assert.equal(await files.makeDir('f/sub'), false);
  await files.write('f/a.txt', '12345');
  const listed = await files.list('f');
  assert.deepEqual(listed.map((one) => [one.name, one.type]).sort(), [['a.txt', 'file'], ['sub', 'dir']]);
  assert.equal((await files.list('/home/user', { depth: 2 })).filter((one) => one.path.includes('/f/')).length, 2);
  const info = await files.getInfo('f/a.txt');
  assert.deepEqual([info.size, info.owner, info.path], [5, 'user', '/home/user/f/a.txt']);
  assert.equal((await files.rename('f/a.txt', 'f/b.txt')).name, 'b.txt');
  assert.equal(await files.exists('f/a.txt'), false);
  await files.remove('f');
  assert.equal(await files.exists('f'), false);
  await assert.rejects(files.read('f/b.txt'), NotFoundError);
});

check('watch', 'what happens in a folder is told', async ({ make }) => {
  const { files } = await make();
  await files.makeDir('w/sub');
  const events = [];
  const watch = await files.watchDir('w', (event) => events.push(`${event.type} ${event.name}`), { recursive: true });
  await files.write('w/sub/a.txt', 'x');
  await files.rename('w/sub/a.txt', 'w/b.txt');
  await files.remove('w/b.txt');
  for (const event of ['create sub/a.txt', 'write sub/a.txt', 'rename sub/a.txt', 'create b.txt', 'remove b.txt']) {
    await until(() => events.includes(event));
  }
  await watch.stop();
});
