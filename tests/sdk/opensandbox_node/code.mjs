// Code, by the bare wire: the package for it is not on the registry.

import assert from 'node:assert/strict';
import { check } from './programs.mjs';

async function run(sandbox, code, connectionConfig) {
  const { endpoint, headers } = await sandbox.getEndpoint(44772);
  const key = connectionConfig.useServerProxy ? { 'OPEN-SANDBOX-API-KEY': connectionConfig.apiKey } : {};
  const answer = await fetch(`http://${endpoint}/code`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers, ...key },
    body: JSON.stringify({ code, context: { language: 'python' } }),
  });
  assert.equal(answer.status, 200);
  return (await answer.text()).split('\n\n').filter(Boolean).map((line) => JSON.parse(line));
}

check('pictures and other values come by their types', async ({ make, connectionConfig }) => {
  const sandbox = await make({ image: 'opensandbox/code-interpreter:v1.1.0' });
  const events = await run(sandbox, 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n1 + 1', connectionConfig);
  const results = events.filter((event) => event.type === 'result').map((event) => event.results);
  const picture = results.find((result) => result['image/png']);
  assert.ok(Buffer.from(picture['image/png'], 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
  assert.deepEqual(results.at(-1), { text: '2' });
  const table = "class T:\n    def _repr_html_(self): return '<b>x</b>'\n    def __repr__(self): return 'x'\nT()";
  const [shown] = (await run(sandbox, table, connectionConfig)).filter((event) => event.type === 'result');
  assert.deepEqual(shown.results, { text: 'x', 'text/html': '<b>x</b>' });
});
