// Containers, their files, and uploads.

import assert from 'node:assert/strict';
import OpenAI, { toFile } from 'openai';
import { scripted } from './programs.mjs';
import { CODE, all, calls, code, logs, say } from './words.mjs';

scripted('all calls of containers and files', [], async (client) => {
  const container = await client.containers.create({ name: 'box' });
  assert.equal((await client.containers.retrieve(container.id)).name, 'box');
  assert.deepEqual((await all(client.containers.list())).map((one) => one.id), [container.id]);

  const uploaded = await client.files.create({ file: await toFile(Buffer.from('bee'), 'b.txt'), purpose: 'user_data' });
  const files = client.containers.files;
  const first = await files.create(container.id, { file: await toFile(Buffer.from('ay'), 'a.txt') });
  const second = await files.create(container.id, { file_id: uploaded.id });
  assert.equal(second.path, `/mnt/data/${uploaded.id}-b.txt`);
  assert.equal((await files.retrieve(first.id, { container_id: container.id })).bytes, 2);
  const listed = (await all(files.list(container.id, { limit: 1 }))).map((one) => one.id);
  assert.deepEqual(listed.sort(), [first.id, second.id].sort());
  const content = await files.content.retrieve(second.id, { container_id: container.id });
  assert.equal(await content.text(), 'bee');

  await files.delete(first.id, { container_id: container.id });
  await client.containers.delete(container.id);
  await assert.rejects(client.containers.retrieve(container.id), OpenAI.NotFoundError);

  assert.deepEqual((await all(client.files.list())).map((one) => one.id), [uploaded.id]);
  assert.equal(await (await client.files.content(uploaded.id)).text(), 'bee');
  assert.equal((await client.files.delete(uploaded.id)).deleted, true);
});

const made = code("import os\nprint(len(os.listdir('/mnt/data')))\nopen('/mnt/data/sums.csv', 'w').write('1,2')");
const linked = say('[The sums](sandbox:/mnt/data/sums.csv)');

scripted('a cited file is downloaded', [made, linked], async (client) => {
  const file = await client.files.create({ file: await toFile(Buffer.from('x'), 'x.txt'), purpose: 'user_data' });
  const container = { type: 'auto', file_ids: [file.id] };
  const response = await client.responses.create({ ...CODE, tools: [{ type: 'code_interpreter', container }] });
  assert.equal(logs(response).split('\n')[0], '1');
  const [citation] = response.output.at(-1).content[0].annotations;
  assert.equal(citation.container_id, calls(response)[0].container_id);
  const place = response.output_text.slice(citation.start_index, citation.end_index);
  assert.equal(place, 'sandbox:/mnt/data/sums.csv');
  const content = await client.containers.files.content.retrieve(citation.file_id, citation);
  assert.equal(await content.text(), '1,2');
});
