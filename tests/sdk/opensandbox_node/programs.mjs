// The real program that the tests talk to, and a key and sandboxes for each test.

import { randomBytes } from 'node:crypto';
import { ConnectionConfig, Sandbox } from '@alibaba-group/opensandbox';
import { sandgate } from './started.mjs';

export { until } from './started.mjs';

export const server = {
  async start() {
    this.running = await sandgate('opensandbox-node', 'pool: 2\n');
    this.url = this.running.url;
  },
  async end() {
    await this.running.end();
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

export const texts = (messages) => messages.map((message) => message.text);
