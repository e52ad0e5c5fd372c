// runCode and contexts: results, output in true time, errors, charts.

import assert from 'node:assert/strict';
import { NotFoundError } from '@e2b/code-interpreter';
import { check } from './programs.mjs';

check('code', 'the last expression is the result', async ({ make }) => {
  const sandbox = await make();
  const run = await sandbox.runCode('x = 1\nx + 1');
  assert.deepEqual([run.text, run.error, run.executionCount], ['2', undefined, 1]);
  assert.equal((await sandbox.runCode('x + 41')).text, '42');
});

check('code', 'output comes while the code runs', async ({ make }) => {
  const sandbox = await make();
  const code = `
import os, time
print('first', flush=True)
while not os.path.exists('/home/user/go'): time.sleep(0.05)
print('second')`;
  let seen;
  const first = new Promise((resolve) => (seen = resolve));
  const lines = [];
  const running = sandbox.runCode(code, { onStdout: (message) => (lines.push(message.line), seen()) });
  await first;
  await sandbox.files.write('/home/user/go', '');
  await running;
  assert.equal(lines.join(''), 'first\nsecond\n');
});

check('code', 'each callback hears its own', async ({ make }) => {
  const sandbox = await make();
  const heard = { out: [], err: [], results: [], errors: [] };
  const code = "import sys\nprint('o')\nprint('e', file=sys.stderr)\ndisplay('shown')\n1 / 0";
  const run = await sandbox.runCode(code, {
    onStdout: (message) => heard.out.push(message.line),
    onStderr: (message) => heard.err.push(message.line),
    onResult: (result) => heard.results.push(result.text),
    onError: (error) => heard.errors.push(error.name),
  });
  assert.deepEqual(heard, { out: ['o\n'], err: ['e\n'], results: ['shown'], errors: ['ZeroDivisionError'] });
  assert.equal(run.error.name, 'ZeroDivisionError');
  assert.ok(!run.error.traceback.includes('\x1b'));
});

check('code', 'letters of many bytes are whole however they travel', async ({ make }) => {
  const sandbox = await make();
  const run = await sandbox.runCode("print('ž📈' * 50_000)");
  assert.equal(run.logs.stdout.join(''), `${'ž📈'.repeat(50_000)}\n`);
});

check('code', 'environment of one run is gone after it', async ({ make }) => {
  const sandbox = await make({ envs: { FOO: 'sandbox' } });
  const look = "import os; os.getenv('FOO')";
  assert.equal((await sandbox.runCode(look, { envs: { FOO: 'run' } })).text, 'run');
  assert.equal((await sandbox.runCode(look)).text, 'sandbox');
});

check('code', 'a client that gives up interrupts the code', async ({ make }) => {
  const sandbox = await make();
  await assert.rejects(sandbox.runCode('import time\nwhile True: time.sleep(0.1)', { timeoutMs: 2000 }));
  assert.equal((await sandbox.runCode('1 + 1')).text, '2');
});

check('charts', 'a chart has its picture and its figures', async ({ make }) => {
  const sandbox = await make();
  const run = await sandbox.runCode("import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [1, 2])\nplt.title('Bars')\nplt.show()");
  const [result] = run.results;
  assert.ok(Buffer.from(result.png, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
  assert.deepEqual([result.chart.type, result.chart.title], ['bar', 'Bars']);
  assert.deepEqual(result.chart.elements.map((one) => [one.label, Number(one.value)]), [['a', 1], ['b', 2]]);
  assert.ok(JSON.parse(JSON.stringify(run)).results[0].png);
});

check('contexts', 'contexts are made, listed, restarted and removed', async ({ make }) => {
  const sandbox = await make();
  const context = await sandbox.createCodeContext({ cwd: '/tmp' });
  assert.deepEqual([context.language, context.cwd], ['python', '/tmp']);
  assert.equal((await sandbox.runCode('import os; x = 1; os.getcwd()', { context })).text, '/tmp');
  assert.equal((await sandbox.runCode("'x' in globals()")).text, 'False');
  assert.equal((await sandbox.listCodeContexts()).at(-1).id, context.id);
  await sandbox.restartCodeContext(context);
  assert.equal((await sandbox.runCode("'x' in globals()", { context })).text, 'False');
  await sandbox.removeCodeContext(context);
  await assert.rejects(sandbox.runCode('1', { context }), NotFoundError);
});

for (const [language, code] of [['javascript', "console.log('hi')"], ['typescript', "console.log('hi' as string)"], ['bash', 'echo hi']]) {
  check('code', `a cell in ${language}`, async ({ make }) => {
    const sandbox = await make();
    const run = await sandbox.runCode(code, { language });
    assert.equal(run.error, undefined);
    assert.equal(run.logs.stdout.join(''), 'hi\n');
  });
}
