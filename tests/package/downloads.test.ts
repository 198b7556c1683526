import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../services/api/src/testing/test-api.ts';
import { createEmptyFolder } from './empty-folder.ts';

const consumer = createEmptyFolder();
let api: TestApi;

beforeAll(async () => {
  execFileSync(process.execPath, [join(projectFolder, 'tools/pack/main.ts'), 'downloads']);
  api = await startTestApi({ environment: { API_PUBLIC_URL: 'https://api.example.org' } });
});
afterAll(async () => {
  await api?.stop();
  consumer.remove();
});

const get = (path: string, init: RequestInit = {}) =>
  fetch(`${api.publicUrl}/docs/downloads${path}`, { redirect: 'manual', ...init });
const pathOf = async (name: string) => (await get(`/${name}.tgz`)).headers.get('location') ?? '';

describe.each(['sdk', 'cli'])('the download of the %s', (name) => {
  it('redirects from the address without a version, which nobody may keep', async () => {
    const { status, headers } = await get(`/${name}.tgz`);
    expect([status, headers.get('cache-control')]).toEqual([302, 'no-store']);
    expect(headers.get('location')).toMatch(new RegExp(`^/docs/downloads/${name}-\\d+\\.\\d+\\.\\d+\\.tgz$`));
  });

  it('never changes under its version, for GET and HEAD', async () => {
    const path = (await pathOf(name)).slice('/docs/downloads'.length);
    const [whole, head] = await Promise.all([get(path), get(path, { method: 'HEAD' })]);
    for (const { status, headers } of [whole, head]) {
      expect([status, headers.get('content-type')]).toEqual([200, 'application/gzip']);
      expect(headers.get('cache-control')).toContain('immutable');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(head.headers.get('content-length')).toBe(String((await whole.arrayBuffer()).byteLength));
    const etag = whole.headers.get('etag') ?? '';
    expect((await get(path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
  });
});

describe('/docs/downloads', () => {
  it('is 404 for another version', async () => {
    for (const path of ['/sdk-0.0.1.tgz', '/cli-9.9.9.tgz', '/shared.tgz']) expect((await get(path)).status).toBe(404);
  });

  it('shows the integrity that npm computes, at the public address and never at that of the request', async () => {
    const page = await (await get('')).text();
    expect(page).toContain('https://api.example.org/docs/downloads/sdk-');
    expect(page).toContain(`npm install --global https://api.example.org${await pathOf('cli')}`);
    expect(page).not.toContain(new URL(api.publicUrl).host);
    for (const name of ['sdk', 'cli']) {
      const file = `.${(await pathOf(name)).slice(15)}`;
      await consumer.node(['-e', saveFile, `${api.publicUrl}${await pathOf(name)}`, file]);
      await consumer.install(file);
    }
    const lock = JSON.parse(readFileSync(join(consumer.path, 'package-lock.json'), 'utf8'));
    const entries = Object.entries<{ resolved?: string; integrity?: string }>(lock.packages);
    const ours = entries.filter(([place]) => place.includes('@enterprise-api/'));
    expect(ours.map(([place]) => place)).toEqual([
      'node_modules/@enterprise-api/cli',
      'node_modules/@enterprise-api/sdk',
    ]);
    for (const [, { resolved, integrity = 'none' }] of ours) {
      expect(resolved).toMatch(/^file:/);
      expect(page).toContain(integrity);
    }
  });

  it('gives a command line and a client that work', async () => {
    const { secret } = await api.createKey();
    const env = { ENTERPRISE_API_URL: api.publicUrl, ENTERPRISE_API_KEY: secret };
    expect(JSON.parse(await consumer.npx(['enterprise-api', 'me', '--json'], env)).object).toBe('me');
    const program = `
      import { EnterpriseApi } from '@enterprise-api/sdk';
      console.log((await new EnterpriseApi().me.get()).object);
    `;
    expect(await consumer.node(['--input-type=module', '--eval', program], env)).toBe('me');
  });
});

const saveFile = `
  const [from, to] = process.argv.slice(1);
  fetch(from).then((answer) => answer.bytes()).then((bytes) => require('node:fs').writeFileSync(to, bytes));
`;
