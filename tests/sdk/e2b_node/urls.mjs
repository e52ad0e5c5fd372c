// Signed URLs: a file up or down with nothing but an address.

import assert from 'node:assert/strict';
import { check } from './programs.mjs';

check('urls', 'a signed address downloads and uploads', async ({ make }) => {
  const sandbox = await make();
  await sandbox.files.write('a.txt', 'downloaded ž');
  const down = await fetch(await sandbox.downloadUrl('a.txt'));
  assert.equal(await down.text(), 'downloaded ž');
  const form = new FormData();
  form.append('file', new Blob(['uploaded']), 'up.txt');
  const up = await fetch(await sandbox.uploadUrl('up.txt'), { method: 'POST', body: form });
  assert.equal(up.status, 200, await up.text());
  assert.equal(await sandbox.files.read('up.txt'), 'uploaded');
  const over = await fetch(await sandbox.downloadUrl('a.txt', { useSignatureExpiration: -10 }));
  assert.equal(over.status, 401);
});
