// The real program that the tests talk to, and a key and sandboxes for each test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Sandbox } from '@e2b/code-interpreter';

const TARGET = process.env.SANDGATE_TARGET;

// The shell ends the program when its own standard input closes, which happens even if the tests are killed.
const WITH_ITS_PARENT = '"$@" & cat >/dev/null; kill $!; wait';
const READY = 'Sandgate is ready on ';

export const server = {
  async start() {
    const homes = join(TARGET, 'sdk', 'homes');
    mkdirSync(homes, { recursive: true });
    this.home = mkdtempSync(join(homes, 'e2b-node-'));
    symlinkSync(join(TARGET, 'test-home', 'runtimes'), join(this.home, 'runtimes'));
    const config = join(this.home, 'config.yaml');
    writeFileSync(config, 'pool: 2\n');
    const env = { ...process.env, SANDGATE_HOME: this.home };
    delete env.RUST_LOG;
    const program = [join(TARGET, 'debug', 'sandgate'), 'serve', '--listen', '127.0.0.1:0', '--config', config];
    const log = openSync(join(this.home, 'server.log'), 'w');
    this.child = spawn('sh', ['-c', WITH_ITS_PARENT, 'sh', ...program], { env, stdio: ['pipe', 'pipe', log] });
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
    const line = await new Promise((resolve) => createInterface(this.child.stdout).once('line', resolve));
    assert.ok(line.startsWith(READY), `not ready: ${line}`);
    this.url = line.slice(READY.length);
    for (const name of Object.keys(process.env)) if (name.startsWith('E2B_')) delete process.env[name];
    // The one-line switch, as users have it in their shell.
    process.env.E2B_API_URL = process.env.E2B_SANDBOX_URL = `${this.url}/e2b`;
  },
  async end() {
    this.child.stdin.end();
    await this.ended;
    rmSync(this.home, { recursive: true, force: true });
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

/** What `look` gives, once it gives anything. */
export async function until(look) {
  const end = Date.now() + 60_000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    assert.ok(Date.now() < end, 'it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function allItems(paginator) {
  const items = [];
  while (paginator.hasNext) items.push(...(await paginator.nextItems()));
  return items;
}

