// All tests of OpenSandbox's SDK for JavaScript, in one process and side by side, so that they share one server.

import { after, before, describe, test } from 'node:test';
import { server, tests } from './programs.mjs';
import './sandboxes.mjs';
import './commands.mjs';
import './files.mjs';
import './code.mjs';

before(() => server.start());
after(() => server.end());

describe('OpenSandbox', { concurrency: 4 }, () => {
  for (const { name, run } of tests) test(name, { timeout: 180_000 }, run);
});
