import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectFolder } from '@enterprise-api/testkit';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createCommandLine } from './command-line.ts';

const cli = createCommandLine();
afterAll(() => cli[Symbol.dispose]());

describe('the process of enterprise-api', () => {
  it('prints its version and its help, with the exit codes', async () => {
    const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
    expect(await cli.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const { code, stdout } = await cli.run(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('  130  ended by Ctrl-C');
    expect(stdout).toContain('listen [options]');
  });

  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['me', '--nonsense'], "unknown option '--nonsense'"],
    [['webhooks', 'show'], "missing required argument 'id'"],
    [['deliveries', 'list', '--order', 'up'], 'Allowed choices are desc, asc'],
    [['deliveries', 'list', '--since', 'yesterday'], 'It must be a time'],
    [['me'], 'There is no API key in profile "default".'],
  ])('says what is wrong with %j', async (args, message) => {
    const { code, stderr, stdout } = await cli.run(args);
    expect([2, 3]).toContain(code);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
  });

  it('ends quietly when nobody reads its output', async () => {
    const program = join(projectFolder, 'packages/cli/bin/enterprise-api.js');
    const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
