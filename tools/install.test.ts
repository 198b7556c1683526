import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnGuarded } from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('./install.sh', import.meta.url));
const readyFile = 'node_modules/.install-complete';
let folder: string;

/** Puts a program on the PATH of the script, before the machine's own. */
function program(name: string, text: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

async function install(onLine: (line: string) => void = () => undefined) {
  const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` };
  return await spawnGuarded('/bin/sh', [script, readyFile], { cwd: folder, env, onLine });
}

const installed = 'mkdir -p node_modules/.bin; ln -s "$(command -v node)" node_modules/.bin/node';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'enterprise-api-install-'));
  for (const name of ['bin', 'node_modules']) mkdirSync(join(folder, name));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('tools/install.sh', () => {
  it('installs exactly what the lock names, then marks the installation as complete', async () => {
    program('npm', `echo "$@" >asked; ${installed}`);
    const { exited } = await install();
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toMatch(/^ci --include=dev --include=optional /);
    expect(existsSync(join(folder, readyFile))).toBe(true);
  });

  it('prints a line every 10 s while npm runs', async () => {
    program('sleep', 'exec true');
    program('npm', `while [ ! -e go ]; do :; done; ${installed}`);
    const { exited, lines } = await install((line) => {
      if (line.endsWith(' 20 s')) writeFileSync(join(folder, 'go'), '');
    });
    expect((await exited).code).toBe(0);
    expect(lines.slice(0, 3).map((line) => / (\d+ s)$/.exec(line)?.[1])).toEqual(['0 s', '10 s', '20 s']);
  });

  it("ends with npm's message and a sentence when npm fails, and leaves no mark", async () => {
    program('npm', 'echo "npm error code E404" >&2; exit 1');
    const { exited, lines } = await install();
    expect((await exited).code).toBe(1);
    expect(lines.slice(-2)).toEqual(['npm error code E404', expect.stringMatching(/^npm could not install/)]);
    expect(existsSync(join(folder, readyFile))).toBe(false);
  });

  it('refuses to run beside another installation in the same folder', async () => {
    program('npm', 'exit 1');
    writeFileSync(join(folder, '.installing'), String(process.pid));
    const { exited, lines } = await install();
    expect((await exited).code).toBe(1);
    expect(lines).toEqual([`Another installation is running (process ${process.pid}): wait for it, then try again.`]);
    expect(existsSync(join(folder, '.installing'))).toBe(true);
  });

  it('starts over after an installation that was killed', async () => {
    program('npm', installed);
    const dead = await spawnGuarded('/bin/sh', ['-c', 'exit 0'], { env: {} });
    await dead.exited;
    writeFileSync(join(folder, '.installing'), String(dead.pid));
    expect((await (await install()).exited).code).toBe(0);
    expect(existsSync(join(folder, '.installing'))).toBe(false);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends npm at once on %s', async (signal) => {
    program('npm', `echo $$ >npm-pid; trap '' INT TERM; echo started >&2; while :; do sleep 1; done`);
    const run = await install((line) => {
      if (line === 'started') process.kill(run.pid, signal);
    });
    expect((await run.exited).code).toBe(signal === 'SIGINT' ? 130 : 143);
    const npm = Number(readFileSync(join(folder, 'npm-pid'), 'utf8'));
    expect(() => process.kill(npm, 0)).toThrow(/ESRCH/);
    expect(existsSync(join(folder, '.installing'))).toBe(false);
  });
});
