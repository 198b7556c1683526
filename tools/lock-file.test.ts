import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { lockFileSchema, lockProblems } from './lock-file.ts';

const committed = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const integrity = 'sha512-x';
const problemsOf = (packages: object) => lockProblems(lockFileSchema.parse({ packages }));
const builds = { '@tool/linux-x64': '1.2.3', '@tool/darwin-arm64': '1.2.3' };
const tool = { version: '1.2.3', integrity, optionalDependencies: builds };
const build = { version: '1.2.3', integrity };

describe('lockProblems', () => {
  it('finds nothing in the committed lock', () => {
    expect(lockProblems(lockFileSchema.parse(JSON.parse(readFileSync(committed, 'utf8'))))).toEqual([]);
  });

  it('accepts an optional dependency beside its package, below it or at the root', () => {
    expect(
      problemsOf({
        'node_modules/tool': tool,
        'node_modules/tool/node_modules/@tool/linux-x64': build,
        'node_modules/@tool/darwin-arm64': build,
        'services/api/node_modules/tool': tool,
        'services/api/node_modules/@tool/linux-x64': build,
      }),
    ).toEqual([]);
  });

  it('names the optional dependency that has no entry', () => {
    expect(problemsOf({ 'node_modules/tool': tool, 'node_modules/@tool/linux-x64': build })).toEqual([
      'node_modules/tool: its optional dependency @tool/darwin-arm64@1.2.3 is missing',
    ]);
  });

  it('does not find the entry that belongs to another package', () => {
    expect(
      problemsOf({
        'node_modules/tool': { version: '1.2.3', integrity, optionalDependencies: { '@tool/linux-x64': '1.2.3' } },
        'node_modules/other/node_modules/@tool/linux-x64': build,
      }),
    ).toEqual(['node_modules/tool: its optional dependency @tool/linux-x64@1.2.3 is missing']);
  });

  it('names the optional dependency that is locked at a version the package does not accept', () => {
    expect(
      problemsOf({
        'node_modules/tool': { version: '1.2.3', integrity, optionalDependencies: { a: '1.2.3', b: '^1.0.0' } },
        'node_modules/a': { version: '1.2.2', integrity },
        'node_modules/b': { version: '1.5.0', integrity },
      }),
    ).toEqual(['node_modules/tool: its optional dependency a@1.2.3 is locked at 1.2.2']);
  });

  it('names an entry without a checksum, but not a link to a workspace', () => {
    expect(
      problemsOf({
        '': { version: '1.0.0' },
        'packages/own': { version: '1.0.0' },
        'node_modules/own': { resolved: 'packages/own', link: true },
        'node_modules/tool': { version: '1.2.3' },
      }),
    ).toEqual(['node_modules/tool: no integrity']);
  });

  it('names an entry that was resolved anywhere but at the public registry', () => {
    expect(
      problemsOf({
        'node_modules/a': { ...build, resolved: 'https://registry.npmjs.org/a/-/a-1.2.3.tgz' },
        'node_modules/b': { ...build, resolved: 'https://mirror.example/b/-/b-1.2.3.tgz' },
      }),
    ).toEqual(['node_modules/b: resolved from https://mirror.example/b/-/b-1.2.3.tgz']);
  });
});
