// The programs that people begin with, run as they are: only the environment is set.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { check, server } from './programs.mjs';

const QUICK_START = `
import { Sandbox } from '@e2b/code-interpreter'

const sbx = await Sandbox.create() // By default the sandbox is alive for 5 minutes
const execution = await sbx.runCode('print("hello world")')
console.log(execution.logs)

const files = await sbx.files.list('/')
console.log(files.map((file) => file.name))
`;

const CODE = `
import { Sandbox } from '@e2b/code-interpreter'

const sandbox = await Sandbox.create()
await sandbox.runCode('x = 1')
const execution = await sandbox.runCode('x += 1; x')
console.log(execution.text)
await sandbox.kill()
`;

const RECONNECT = `
import { Sandbox } from '@e2b/code-interpreter'

const first = await Sandbox.create({ timeoutMs: 60_000, metadata: { user: 'alice' } })
await first.runCode('answer = 42')
const [found] = await Sandbox.list({ query: { metadata: { user: 'alice' } } }).nextItems()
const second = await Sandbox.connect(found.sandboxId)
console.log((await second.runCode('answer')).text)
console.log(await second.kill(), await second.isRunning())
`;

const PICTURE = `
import { Sandbox } from '@e2b/code-interpreter'

const sandbox = await Sandbox.create()
const run = await sandbox.runCode("import matplotlib.pyplot as plt; plt.bar(['a'], [1]); plt.show()")
console.log(JSON.stringify(run.toJSON()))
await sandbox.kill()
`;

const THREE = `
import { Sandbox } from '@e2b/code-interpreter'

const sandbox = await Sandbox.create()
console.log((await sandbox.runCode('1 + 1')).text)
console.log((await sandbox.runCode('1 + 1', { language: 'js' })).text)
console.log((await sandbox.runCode('echo hello', { language: 'bash' })).logs.stdout.join('').trim())
await sandbox.kill()
`;

async function run(program, { apiKey }) {
  const address = `${server.url}/e2b`;
  const env = { PATH: process.env.PATH, E2B_API_KEY: apiKey, E2B_API_URL: address, E2B_SANDBOX_URL: address };
  const options = { env, timeout: 150_000 };
  return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], options)).stdout;
}

// What the packages themselves show, as it stands in them. One part names volumes and secrets.
for (const name of ['e2b', '@e2b/code-interpreter']) {
  const text = readFileSync(new URL(`node_modules/${name}/README.md`, import.meta.url), 'utf8');
  const shown = [...text.matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)].map(([, code]) => code).filter((code) => !code.includes('Secret'));
  check('examples', `what ${name} shows`, async ({ key }) => {
    assert.ok(shown.length > 0);
    for (const code of shown) {
      const [, said] = code.match(/console\.log\(.*\)\s+\/\/ (?:outputs )?(.*)/);
      assert.equal((await run(code, key)).trim(), said);
    }
  });
}

check('examples', 'the quick start', async ({ key }) => {
  const said = await run(QUICK_START, key);
  assert.match(said, /hello world/);
  assert.match(said, /'home'/);
});

check('examples', 'the quick start of the code interpreter', async ({ key }) => {
  assert.equal(await run(CODE, key), '2\n');
});

check('examples', 'a query by metadata, joining again, a kill', async ({ key }) => {
  assert.equal(await run(RECONNECT, key), '42\ntrue false\n');
});

check('examples', 'results with a picture as JSON', async ({ key }) => {
  const { results } = JSON.parse(await run(PICTURE, key));
  assert.ok(Buffer.from(results[0].png, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
});

check('examples', 'code in three languages', async ({ key }) => {
  assert.equal(await run(THREE, key), '2\n2\nhello\n');
});
