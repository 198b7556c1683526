import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

const project = fileURLToPath(new URL('..', import.meta.url));
const notCopied = new Set(['node_modules', '.git', '.data', 'results']);
const unreleased = '## [Unreleased]\n';
let clone: string;

const git = (...args: string[]) => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
const read = (file: string) => readFileSync(join(clone, file), 'utf8');
/** Newer than any version that this project has. */
const version = '9999.0.0';

/** Our files in a repository of their own, where `make check` and `npm run openapi` do nothing. */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'enterprise-api-release-'));
  cpSync(project, clone, { recursive: true, filter: (path) => path === project || !notCopied.has(basename(path)) });
  mkdirSync(join(clone, 'node_modules'));
  for (const name of ['make', 'npm'])
    writeFileSync(join(clone, 'node_modules', name), '#!/bin/sh\necho "$0 $@"\n', { mode: 0o755 });
  writeFileSync(join(clone, 'node_modules/.install-complete'), '');
  const changelog = read('CHANGELOG.md').replace(unreleased, `${unreleased}\n### Added\n\n- A thing.\n`);
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog);
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'All');
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));
beforeEach(() => void git('reset', '--quiet', '--hard'));

function release(...args: string[]) {
  const env = { ...process.env, PATH: `${join(clone, 'node_modules')}:${process.env.PATH}` };
  return spawnSync(process.execPath, [join(clone, 'tools/release.ts'), ...args], { cwd: clone, env, encoding: 'utf8' });
}

it('checks everything and writes nothing in a dry run', () => {
  const { status, stdout, stderr } = release(version, '--dry-run');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('make check');
  expect(git('status', '--porcelain')).toBe('');
});

it('writes the changelog and the version of every package, image and locked package', () => {
  const current = JSON.parse(read('package.json')).version;
  const namedIn = (text: string) =>
    git('grep', '--fixed-strings', '--name-only', text, '--', 'deploy', '*package.json');
  const before = namedIn(current);
  expect(before.split('\n').length).toBeGreaterThan(8);
  const { status, stdout } = release(version);
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining('run --silent released-migrations'),
  });
  expect(namedIn(version)).toBe(before);
  const lock = JSON.parse(read('package-lock.json'));
  expect(lock.version).toBe(version);
  expect(lock.packages['services/api']).toMatchObject({ version, dependencies: { '@enterprise-api/shared': version } });
  expect(read('CHANGELOG.md')).toMatch(
    /## \[Unreleased\]\n\n## \[9999\.0\.0\] - [\d-]{10}\n\n### Added\n\n- A thing\./,
  );
});

it('makes the next version of this repository, and not the version that it has', () => {
  const current: string = JSON.parse(read('package.json')).version;
  const next = current.replace(/(?<=^\d+\.)\d+.*/, (rest) => `${Number.parseInt(rest, 10) + 1}.0`);
  expect(release(next, '--dry-run').status).toBe(0);
  expect(release(current, '--dry-run')).toMatchObject({
    status: 1,
    stderr: `CHANGELOG.md: ${current} is not newer than ${current}\n`,
  });
});

it('is refused for what is no newer version, changes, several versions and a changelog without notes', () => {
  const file = join(clone, 'deploy/kubernetes/base/api.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/(image: enterprise-api\/api:).*/, '$10.0.1'));
  writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n## [0.0.9] - 2026-01-01\n');
  appendFileSync(join(clone, 'LICENSE'), '\n');
  const { status, stdout, stderr } = release('0.0.9');
  expect([status, stdout]).toEqual([1, '']);
  for (const problem of ['not newer than 0.0.9', 'has changes', 'name several versions', 'no notes'])
    expect(stderr).toContain(problem);
  expect(release('1.2').stderr).toContain('"1.2" is not a version');
});
