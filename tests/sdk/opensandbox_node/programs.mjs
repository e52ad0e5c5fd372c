// The real program that the tests talk to, and a key and sandboxes for each test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ConnectionConfig, Sandbox } from '@alibaba-group/opensandbox';

const TARGET = process.env.SANDGATE_TARGET;

// The shell ends the program when its own standard input closes, which happens even if the tests are killed.
const WITH_ITS_PARENT = '"$@" & cat >/dev/null; kill $!; wait';
const READY = 'Sandgate is ready on ';

export const server = {
  async start() {
    const homes = join(TARGET, 'sdk', 'homes');
    mkdirSync(homes, { recursive: true });
    this.home = mkdtempSync(join(homes, 'opensandbox-node-'));
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
  },
  async end() {
    this.child.stdin.end();
    await this.ended;
    rmSync(this.home, { recursive: true, force: true });
  },
};

/** All tests; they are started together in all.test.mjs. */
export const tests = [];

/** A test in both ways into a sandbox, with a key of its own; `make` makes sandboxes that end with it. */
export function check(name, body) {
  for (const useServerProxy of [false, true]) {
    tests.push({
      name: `${name} (${useServerProxy ? 'proxy' : 'direct'})`,
      async run() {
        const connectionConfig = new ConnectionConfig({
          domain: server.url.replace('http://', ''),
          apiKey: `osb-${randomBytes(20).toString('hex')}`,
          useServerProxy,
        });
        const made = [];
        const make = async (options = {}) => {
          made.push(await Sandbox.create({ connectionConfig, image: 'ubuntu', ...options }));
          return made.at(-1);
        };
        try {
          await body({ make, connectionConfig });
        } finally {
          for (const sandbox of made) {
            await sandbox.kill().catch(() => {});
            await sandbox.close();
          }
        }
      },
    });
  }
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

export const texts = (messages) => messages.map((message) => message.text);
