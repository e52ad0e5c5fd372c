// The real programs that tests talk to, started for as long as the tests run.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const TARGET = process.env.SANDGATE_TARGET;

// The shell ends the program when its own standard input closes, which happens even if the tests are killed.
const WITH_ITS_PARENT = '"$@" & cat >/dev/null; kill $!; wait';

/** A program that says where it listens on its first line. */
export async function started(program, log, env, beforeTheAddress) {
  const child = spawn('sh', ['-c', WITH_ITS_PARENT, 'sh', ...program], { env, stdio: ['pipe', 'pipe', log] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const line = await new Promise((resolve) => createInterface(child.stdout).once('line', resolve));
  assert.ok(line.startsWith(beforeTheAddress), `not ready: ${line}`);
  const end = () => (child.stdin.end(), ended);
  return { url: line.slice(beforeTheAddress.length), end };
}

/** Sandgate in a home of its own, which goes with it; the runtimes are those that all tests share. */
export async function sandgate(name, settings) {
  const homes = join(TARGET, 'sdk', 'homes');
  mkdirSync(homes, { recursive: true });
  const home = mkdtempSync(join(homes, `${name}-`));
  symlinkSync(join(TARGET, 'test-home', 'runtimes'), join(home, 'runtimes'));
  const config = join(home, 'config.yaml');
  writeFileSync(config, settings);
  const env = { ...process.env, SANDGATE_HOME: home };
  for (const hidden of ['OPENAI_API_KEY', 'RUST_LOG']) delete env[hidden];
  const program = [join(TARGET, 'debug', 'sandgate'), 'serve', '--listen', '127.0.0.1:0', '--config', config];
  const server = await started(program, openSync(join(home, 'server.log'), 'w'), env, 'Sandgate is ready on ');
  const end = async () => {
    await server.end();
    rmSync(home, { recursive: true, force: true });
  };
  return { url: server.url, end };
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
