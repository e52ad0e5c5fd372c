// All tests of E2B's SDK for JavaScript, in one process and side by side, so that they share one server.

import { after, before, describe, test } from 'node:test';
import { server, tests } from './programs.mjs';
import './sandboxes.mjs';
import './code.mjs';
import './files.mjs';
import './commands.mjs';
import './urls.mjs';
import './refusals.mjs';
import './examples.mjs';

before(() => server.start());
after(() => server.end());

describe('E2B', { concurrency: 4 }, () => {
  for (const { area, name, waits, run } of tests) {
    // The reporter reads the area and the reason from the name.
    const title = `${area}: ${name}${waits ? ` # waits: ${waits}` : ''}`;
    test(title, { timeout: 180_000 }, run);
  }
});
