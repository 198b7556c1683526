import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectFolder, startUpstream } from '@enterprise-api/testkit';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createCommandLine } from './command-line.ts';

const program = join(projectFolder, 'packages/cli/bin/enterprise-api.js');
const cli = createCommandLine();
afterAll(() => cli[Symbol.dispose]());

describe('the process of enterprise-api', () => {
  it('prints its version and its help, with the exit codes', async () => {
    const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
    const [shown, help] = [await cli.start(['--version']), await cli.start(['--help'])];
    expect([(await shown.exited).code, shown.lines]).toEqual([0, [version]]);
    expect((await help.exited).code).toBe(0);
    expect(help.lines.join('\n')).toContain('  130  ended by Ctrl-C');
    expect(help.lines.join('\n')).toContain('listen [options]');
  });

  it('reads its standard input, and ends with the exit code of its command', async () => {
    const child = spawn(process.execPath, [program, 'login', '--api-url', 'http://127.0.0.1:1'], { env: {} });
    child.stdin.end('nwk_ü\n');
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The secret contains characters')]);
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

  it.each([[['--last-error', 'timeout', '--last-error', 'http_error']], [['--last-error', 'timeout,http_error']]])(
    'sends each value of a filter that is given as %j',
    async (args) => {
      const list = '{"object":"list","data":[],"has_more":false,"next_cursor":null}';
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${list.length}\r\n\r\n`;
      await using api = await startUpstream({ answer: () => head + list });
      const env = { ENTERPRISE_API_URL: api.url, ENTERPRISE_API_KEY: 'nwk_x' };
      const { code, stderr } = await cli.run(['deliveries', 'list', ...args], { env });
      expect([code, stderr]).toEqual([0, '']);
      const { searchParams } = new URL(api.requests[0]?.path ?? '', api.url);
      expect(searchParams.getAll('last_error')).toEqual(['timeout', 'http_error']);
    },
  );

  it('ends quietly when nobody reads its output', async () => {
    const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
