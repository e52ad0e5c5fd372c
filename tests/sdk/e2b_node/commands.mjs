// Commands and terminals.

import assert from 'node:assert/strict';
import { CommandExitError, Sandbox } from '@e2b/code-interpreter';
import { check, until } from './programs.mjs';

check('commands', 'a command has output, an exit code, a user, a folder and an environment', async ({ make }) => {
  const { commands } = await make();
  const result = await commands.run('echo out; echo err >&2; pwd; echo $FOO', { cwd: '/tmp', envs: { FOO: 'bar' } });
  assert.deepEqual([result.stdout, result.stderr, result.exitCode], ['out\n/tmp\nbar\n', 'err\n', 0]);
  await assert.rejects(commands.run('echo said; exit 3'), (error) => {
    assert.ok(error instanceof CommandExitError);
    assert.deepEqual([error.exitCode, error.stdout], [3, 'said\n']);
    return true;
  });
});

check('commands', 'a command in the background is fed, listed, joined and killed', async ({ make, key }) => {
  const sandbox = await make();
  const { commands } = sandbox;
  const fed = await commands.run('cat; echo end', { background: true, stdin: true });
  await commands.sendStdin(fed.pid, 'in\n');
  await commands.closeStdin(fed.pid);
  assert.equal((await fed.wait()).stdout, 'in\nend\n');

  const left = await commands.run('until [ -e go ]; do sleep 0.05; done; echo late', { background: true });
  await left.disconnect();
  assert.ok((await commands.list()).some((one) => one.pid === left.pid));
  const other = await Sandbox.connect(sandbox.sandboxId, key);
  const joined = await other.commands.connect(left.pid);
  await sandbox.files.write('go', '');
  assert.equal((await joined.wait()).stdout, 'late\n');

  const killed = await commands.run('sleep 600', { background: true });
  assert.equal(await killed.kill(), true);
  assert.equal(await commands.kill(999_999), false);
});

check('terminals', 'a shell answers, is resized and killed', async ({ make }) => {
  const { pty } = await make();
  let shown = '';
  const decoder = new TextDecoder();
  const onData = (data) => (shown += decoder.decode(data, { stream: true }));
  const terminal = await pty.create({ cols: 80, rows: 24, onData });
  const type = (text) => pty.sendInput(terminal.pid, new TextEncoder().encode(text));
  await type('echo $((6*7))\n');
  await until(() => /^42\r?$/m.test(shown));
  await pty.resize(terminal.pid, { cols: 123, rows: 50 });
  await type('stty size\n');
  await until(() => shown.includes('50 123'));
  assert.equal(await pty.kill(terminal.pid), true);
  assert.equal(await pty.kill(999_999), false);
});
