import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkPackages } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReleaseOptions, release } from './release.ts';
import { namedVersions } from './versions.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const notCopied = new Set(['node_modules', '.git', '.data', 'results']);
const installed = 'node_modules/.install-complete';
const notes = '### Added\n\n- A thing.';
let clone: string;

/** A repository of its own with the files of this one, and its packages. */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'enterprise-api-release-'));
  cpSync(project, clone, { recursive: true, filter: (path) => path === project || !notCopied.has(basename(path)) });
  linkPackages(project, clone);
  linkPackages(join(project, 'packages/sdk'), join(clone, 'packages/sdk'));
  rmSync(join(clone, installed), { force: true });
  writeFileSync(join(clone, installed), '');
  writeFileSync(join(clone, 'CHANGELOG.md'), `# Changelog\n\n## [Unreleased]\n\n${notes}\n\n## [0.0.1] - 2026-01-01\n`);
  git('init', '--quiet');
  git('config', 'user.name', 'A tester');
  git('config', 'user.email', 'tester@example.com');
  commitAll();
  git('tag', 'beginning');
}, 240_000);
afterAll(() => rmSync(clone, { recursive: true, force: true }));
afterEach(() => {
  git('reset', '--quiet', '--hard', 'beginning');
  for (const tag of git('tag', '--list', 'v*').split('\n').filter(Boolean)) git('tag', '--delete', tag);
});

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
}

function commitAll(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'All');
}

const read = (file: string) => readFileSync(join(clone, file), 'utf8');
/** Newer than any version that this project has. */
const version = '9999.0.0';

function releaseIt(options: Partial<ReleaseOptions> = {}) {
  const checks: string[] = [];
  const problems = release({
    project: clone,
    version,
    date: '2026-11-23',
    dryRun: false,
    tag: false,
    say: () => undefined,
    run: (command, args) => {
      // The whole check takes too long for a test, and runs beside it anyway.
      if (command === 'make') checks.push(args.join());
      // The documents are made once, by the release that is not tagged.
      else if (command !== 'npm' || options.tag !== true) execFileSync(command, args, { cwd: clone, stdio: 'pipe' });
    },
    ...options,
  });
  return { problems, checks };
}

describe('a release', () => {
  it('checks everything and writes nothing in a dry run', () => {
    expect(releaseIt({ dryRun: true })).toEqual({ problems: [], checks: ['check'] });
    expect(git('status', '--porcelain')).toBe('');
  });

  it('writes the notes, the changelog and every version, and commits and tags only when told', () => {
    const said: string[] = [];
    expect(releaseIt({ say: (line) => said.push(line) })).toEqual({ problems: [], checks: ['check'] });
    expect(new Set(namedVersions(clone).map((place) => place.version))).toEqual(new Set([version]));
    expect(JSON.parse(read('docs/openapi.json')).info.version).toBe(version);
    expect(JSON.parse(read('docs/internal-openapi.json')).info.version).toBe(version);
    expect(read('CHANGELOG.md')).toContain(`## [Unreleased]\n\n## [${version}] - 2026-11-23\n\n${notes}`);
    expect(read(`.data/release-notes-${version}.md`)).toBe(`${notes}\n`);
    const lock = JSON.parse(read('package-lock.json'));
    expect(lock.packages['services/api']).toMatchObject({
      version,
      dependencies: { '@enterprise-api/shared': version },
    });
    const changedAt = (file: string) => lstatSync(join(clone, file)).mtimeMs;
    expect(changedAt(installed)).toBeGreaterThanOrEqual(changedAt('package-lock.json'));
    expect(git('tag', '--list', 'v*')).toBe('');
    expect(releaseIt().problems).toContain('The working tree has changes: commit or remove them.');
    const [, commands = ''] =
      /then: (git commit .*)$/.exec(said.find((line) => line.includes('git commit')) ?? '') ?? [];
    execFileSync('sh', ['-ec', commands], { cwd: clone, stdio: 'pipe' });
    expect([git('status', '--porcelain'), git('tag', '--points-at', 'HEAD')]).toEqual(['', `v${version}`]);
    expect(JSON.parse(git('show', 'HEAD:package.json')).version).toBe(version);
    git('tag', '--delete', `v${version}`);
    git('reset', '--quiet', '--hard', 'beginning');
    expect(releaseIt({ tag: true })).toEqual({ problems: [], checks: ['check', 'check'] });
    expect(git('status', '--porcelain')).toBe('');
    expect(git('tag', '--points-at', 'HEAD')).toBe(`v${version}`);
    expect(releaseIt().problems).toContain(`There is a tag v${version} already.`);
  }, 240_000);

  it('is refused for what is no version, changes, a forgotten version and a changelog without notes', () => {
    expect(releaseIt({ version: '1.2' }).problems).toContain('"1.2" is not a version: three numbers, such as 1.2.3');
    const file = 'deploy/kubernetes/base/api.yaml';
    writeFileSync(join(clone, file), read(file).replace(/(image: enterprise-api\/api:).*/, '$10.0.1'));
    writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n');
    appendFileSync(join(clone, 'LICENSE'), '\n');
    const { problems, checks } = releaseIt();
    expect(problems).toEqual([
      'The working tree has changes: commit or remove them.',
      'CHANGELOG.md: nothing stands below [Unreleased]',
      expect.stringMatching(`^${file}: names 0.0.1, the product is `),
    ]);
    expect(checks).toEqual([]);
  });
});
