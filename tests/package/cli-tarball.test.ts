import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startUpstream } from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmptyFolder } from './empty-folder.ts';

const consumer = createEmptyFolder();
const installed = join(consumer.path, 'node_modules/@enterprise-api/cli');

beforeAll(async () => consumer.install(await consumer.pack('cli')));
afterAll(() => consumer.remove());

describe('the package @enterprise-api/cli, installed in an empty folder', () => {
  it('runs by npx, compiled, and says its version', async () => {
    const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(await consumer.npx(['enterprise-api', '--version'])).toBe(version);
  });

  it('prints its completions, made of all its commands', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await consumer.npx(['enterprise-api', 'completion', shell]);
      expect(script).toContain('enterprise-api');
      for (const command of ['webhooks', 'rotate-secret', 'listen', 'orgs']) expect(script).toContain(command);
    }
  });

  it('calls the API with the client that it carries', async () => {
    const me = {
      object: 'me',
      organization: { id: 'org_1', name: 'Acme', plan: 'pro' },
      key: { id: 'key_1', name: 'laptop', key_prefix: 'nwk_abcdefgh', scopes: ['*'], ip_allowlist: null },
      scopes: ['*'],
      rate_limit: { limit: 300, window_seconds: 60 },
    };
    const body = JSON.stringify(me);
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    await using api = await startUpstream({ answer: () => head + body });
    const env = { ENTERPRISE_API_URL: api.url, ENTERPRISE_API_KEY: 'nwk_test', XDG_CONFIG_HOME: consumer.path };
    expect(JSON.parse(await consumer.npx(['enterprise-api', 'me', '--json'], env))).toEqual(me);
    expect(api.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/me', 'Bearer nwk_test'],
    ]);
  });

  it('serves the Model Context Protocol with the package that it installs', () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { stdout } = spawnSync(process.execPath, [join(installed, 'bin/enterprise-api.js'), 'mcp'], {
      encoding: 'utf8',
      env: { ENTERPRISE_API_URL: 'http://127.0.0.1:9', ENTERPRISE_API_KEY: 'nwk_test', HOME: consumer.path },
      input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
      timeout: 60_000,
    });
    expect(JSON.parse(stdout)).toMatchObject({ result: { serverInfo: { name: 'enterprise-api' } } });
  });

  describeWith(['node20'], (oldNode) => {
    it('says on an older Node.js which one it needs, and ends with 1', () => {
      const program = join(installed, 'bin/enterprise-api.js');
      const { status, stdout, stderr } = spawnSync(oldNode, [program, '--version'], {
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(
        /^enterprise-api needs Node\.js 22\.12 or newer, and this is 20\.\d+\.\d+\. Install a newer one/,
      );
    });
  });
});
