// The real program that the tests talk to, and a key and sandboxes for each test.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Sandbox } from '@e2b/code-interpreter';
import { sandgate } from './started.mjs';

export { until } from './started.mjs';

export const server = {
  async start() {
    this.running = await sandgate('e2b-node', 'pool: 2\n');
    this.url = this.running.url;
    for (const name of Object.keys(process.env)) if (name.startsWith('E2B_')) delete process.env[name];
    // The one-line switch, as users have it in their shell.
    process.env.E2B_API_URL = process.env.E2B_SANDBOX_URL = `${this.url}/e2b`;
  },
  async end() {
    await this.running.end();
  },
};

/** All tests, by area; they are started together in all.test.mjs. */
export const tests = [];

/** A test with a key of its own; `make` makes sandboxes that end with it. `waits`: why it cannot pass yet. */
export function check(area, name, body, { waits } = {}) {
  tests.push({
    area,
    name,
    waits,
    async run() {
      const key = { apiKey: `e2b_${randomBytes(20).toString('hex')}` };
      const made = [];
      const make = async (options = {}) => {
        made.push(await Sandbox.create({ timeoutMs: 300_000, ...key, ...options }));
        return made.at(-1);
      };
      try {
        await expecting(waits, () => body({ make, key, url: server.url }));
      } finally {
        await Promise.all(made.map((sandbox) => sandbox.kill().catch(() => {})));
      }
    },
  });
}

/** One that waits must fail, so that nobody forgets it on the list. */
async function expecting(waits, run) {
  if (!waits) return run();
  const failed = await run().then(() => false, () => true);
  assert.ok(failed, `it passes now, and need not wait any more: ${waits}`);
}

export async function allItems(paginator) {
  const items = [];
  while (paginator.hasNext) items.push(...(await paginator.nextItems()));
  return items;
}

