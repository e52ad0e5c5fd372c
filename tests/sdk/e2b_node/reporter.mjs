// One line for each test, what failed, the words that `cargo xtask test` counts, and the file that
// COMPATIBILITY.md is made of.

import { readFileSync, writeFileSync } from 'node:fs';
import { inspect } from 'node:util';

export default async function* report(events) {
  const areas = {};
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of events) {
    // The file and the group as a whole are told as tests too.
    const whole = data?.details?.type === 'suite' || data?.name?.endsWith('.test.mjs');
    if (type === 'test:pass' && !whole) {
      const { area, waits } = parts(data.name);
      const of = (areas[area] ??= { passed: 0, failed: 0, waits: [] });
      if (waits) {
        if (!of.waits.includes(waits)) of.waits.push(waits);
      } else {
        passed += 1;
        of.passed += 1;
      }
      yield `test ${data.name} ... ok\n`;
    } else if (type === 'test:fail' && !(whole && failed > 0)) {
      failed += 1;
      if (!whole) (areas[parts(data.name).area] ??= { passed: 0, failed: 0, waits: [] }).failed += 1;
      yield `test ${data.name} ... FAILED\n${inspect(data.details.error.cause ?? data.details.error)}\n`;
    } else if (type === 'test:stdout' || type === 'test:stderr') {
      yield data.message;
    }
  }
  const file = process.env.SANDGATE_SDK_REPORT;
  if (file) writeFileSync(file, JSON.stringify({ packages: versions(), areas }, null, 1));
  yield `test result: ${failed ? 'FAILED' : 'ok'}. ${passed} passed; ${failed} failed\n`;
}

function parts(name) {
  const [title, waits] = name.split(' # waits: ');
  return { area: title.split(': ')[0], waits };
}

function versions() {
  const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version;
  return Object.fromEntries(['e2b', '@e2b/code-interpreter'].map((name) => [name, version(name)]));
}
