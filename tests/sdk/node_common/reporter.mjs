// One line for each test, what failed, and at the end the words that `cargo xtask test` counts.

import { inspect } from 'node:util';

export default async function* report(events) {
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of events) {
    // The file and the group as a whole are told as tests too.
    const whole = data?.details?.type === 'suite' || data?.name?.endsWith('.test.mjs');
    if (type === 'test:pass' && !whole) {
      passed += 1;
      yield `test ${data.name} ... ok\n`;
    } else if (type === 'test:fail' && !(whole && failed > 0)) {
      failed += 1;
      yield `test ${data.name} ... FAILED\n${inspect(data.details.error.cause ?? data.details.error)}\n`;
    } else if (type === 'test:stdout' || type === 'test:stderr') {
      yield data.message;
    }
  }
  yield `test result: ${failed ? 'FAILED' : 'ok'}. ${passed} passed; ${failed} failed\n`;
}
