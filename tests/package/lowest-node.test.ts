import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmptyFolder } from './empty-folder.ts';

const call = `
  import { EnterpriseApi } from '@enterprise-api/sdk';
  import '@enterprise-api/sdk/webhooks';
  await new EnterpriseApi().me.get();
`;
const loadAll = `
  import { readFileSync } from 'node:fs';
  const { exports } = JSON.parse(readFileSync('node_modules/@enterprise-api/shared/package.json', 'utf8'));
  for (const entry of Object.keys(exports)) await import(entry.replace('.', '@enterprise-api/shared'));
  console.log('loaded');
`;

/** npm has the programs of Node.js, as packages without scripts. */
const nodePackage = `node-${process.platform === 'darwin' && process.arch === 'arm64' ? 'bin-' : ''}${process.platform}-${process.arch}`;

describe.each([
  // Both have loaded everything and tried to connect.
  ['sdk', ['--input-type=module', '--eval', call], 'connect ECONNREFUSED 127.0.0.1:1'],
  ['cli', ['node_modules/@enterprise-api/cli/bin/enterprise-api.js', 'me'], 'connect ECONNREFUSED 127.0.0.1:1'],
  ['shared', ['--input-type=module', '--eval', loadAll], 'loaded'],
])('the package %s', (name, args, expected) => {
  const consumer = createEmptyFolder();
  beforeAll(async () => consumer.install(await consumer.pack(name)), 240_000);
  afterAll(() => consumer.remove());

  const lowestVersion = () => {
    const manifest = readFileSync(join(consumer.path, `node_modules/@enterprise-api/${name}/package.json`), 'utf8');
    const [, major, minor = '0'] = /^>=(\d+)(?:\.(\d+))?$/.exec(JSON.parse(manifest).engines.node) ?? [];
    return `${major}.${minor}.0`;
  };

  it('declares the lowest Node.js that it runs on', () => {
    expect(lowestVersion()).toMatch(/^\d+\.\d+\.0$/);
  });

  describeWith(['downloads'], () => {
    it('runs on that Node.js', async () => {
      await consumer.install(`${nodePackage}@${lowestVersion()}`);
      const env = { ENTERPRISE_API_URL: 'http://127.0.0.1:1', ENTERPRISE_API_KEY: 'nwk_test', HOME: consumer.path };
      const options = { cwd: consumer.path, env, encoding: 'utf8' } as const;
      const node = join(consumer.path, 'node_modules', nodePackage, 'bin/node');
      const { stdout, stderr } = spawnSync(node, args, options);
      expect(stdout + stderr).toContain(expected);

      // Its dependencies declare no higher version.
      const strict = ['install', '--engine-strict', '--dry-run', '--offline', '--ignore-scripts'];
      const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
      const npm = spawnSync('npm', strict, { ...options, env: { ...process.env, PATH } });
      expect(npm.stderr).not.toContain('EBADENGINE');
      expect(npm.status).toBe(0);
    });
  });
});
