// Commands, as the SDK runs them.

import assert from 'node:assert/strict';
import { check, texts, until } from './programs.mjs';

check('output comes by lines, and the code of the end', async ({ make }) => {
  const sandbox = await make();
  const heard = [];
  const handlers = {
    onInit: (init) => heard.push(['init', Boolean(init.id)]),
    onStdout: (message) => heard.push(['stdout', message.text]),
    onExecutionComplete: (complete) => heard.push(['complete', complete.executionTimeMs >= 0]),
  };
  const done = await sandbox.commands.run("printf 'a\\n\\nb\\n'; echo oh >&2", undefined, handlers);
  assert.deepEqual(texts(done.logs.stdout), ['a', '\n', 'b']);
  assert.deepEqual(texts(done.logs.stderr), ['oh']);
  assert.deepEqual(heard, [['init', true], ['stdout', 'a'], ['stdout', '\n'], ['stdout', 'b'], ['complete', true]]);
  const failed = await sandbox.commands.run('exit 3');
  assert.equal(failed.error.name, 'CommandExecError');
  assert.equal(failed.error.value, '3');
});

check('a command in the background is followed by its id', async ({ make }) => {
  const sandbox = await make();
  const begun = await sandbox.commands.run('echo one; exit 4', { background: true });
  const status = await until(async () => {
    const status = await sandbox.commands.getCommandStatus(begun.id);
    return status.running ? undefined : status;
  });
  assert.equal(status.exitCode, 4);
  const logs = await sandbox.commands.getBackgroundCommandLogs(begun.id);
  assert.equal(logs.content, 'one\n');
});

check('a session keeps its folder and what is exported', async ({ make }) => {
  const sandbox = await make();
  const session = await sandbox.commands.createSession({ workingDirectory: '/tmp' });
  await sandbox.commands.runInSession(session, 'export A=1; cd /');
  const done = await sandbox.commands.runInSession(session, 'echo $A; pwd');
  assert.deepEqual(texts(done.logs.stdout), ['1', '/']);
  await sandbox.commands.deleteSession(session);
});
