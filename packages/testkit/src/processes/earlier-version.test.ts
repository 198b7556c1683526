import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { checkOutVersion, releasedRevision } from './earlier-version.ts';

let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'enterprise-api-clone-'));
  git('init', '--quiet');
  git('config', 'user.name', 'A tester');
  git('config', 'user.email', 'tester@example.com');
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: clone, stdio: 'pipe' });
}

function commit(...tags: string[]): void {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'A change');
  for (const tag of tags) git('tag', tag);
}

describe('the version that was released last', () => {
  it('is the newest tag of a version in the history, by its numbers', () => {
    commit('v1.9.0');
    commit('v1.10.0', 'v2.0.0-rc.1', 'vision');
    commit();
    expect(releasedRevision(clone, '')).toBe('v1.10.0');
  });

  it('is the one before, where this commit is the release itself', () => {
    commit('v1.0.0');
    commit('v1.1.0');
    expect(releasedRevision(clone, '')).toBe('v1.0.0');
  });

  it('is none of another branch: a patch of 1.0 is no upgrade from 2.0', () => {
    commit('v1.0.0');
    commit('v2.0.0');
    git('checkout', '--quiet', '-b', 'patches', 'v1.0.0');
    commit();
    expect(releasedRevision(clone, '')).toBe('v1.0.0');
  });

  it('is the given one, where UPGRADE_FROM names one', () => {
    commit('v1.0.0');
    expect(releasedRevision(clone, 'main~3')).toBe('main~3');
  });

  it('is none in a clone without commits or tags, and in an archive within something else', () => {
    expect(releasedRevision(clone, '')).toBeUndefined();
    commit();
    expect(releasedRevision(clone, '')).toBeUndefined();
    git('tag', 'v1.0.0');
    commit();
    const archive = join(clone, 'archive');
    mkdirSync(archive);
    expect(releasedRevision(archive, '')).toBeUndefined();
  });
});

describe('the files of an earlier version', () => {
  const writeLock = (packages: object) => writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
  const ours = { link: true, resolved: 'packages/shared' };

  it('have the packages of this project, where those that its services need are the same', () => {
    writeLock({
      'node_modules/kysely': { version: '1.0.0' },
      'node_modules/jest': { version: '1.0.0', dev: true },
      'packages/cli/node_modules/kysely': { version: '0.9.0' },
    });
    writeFileSync(join(clone, 'earlier.txt'), 'earlier');
    commit('v1.0.0');
    rmSync(join(clone, 'earlier.txt'));
    writeLock({
      'node_modules/kysely': { version: '1.0.0' },
      'node_modules/jest': { version: '2.0.0', dev: true },
      'node_modules/@enterprise-api/shared': ours,
    });
    mkdirSync(join(clone, 'node_modules', 'kysely'), { recursive: true });
    using earlier = checkOutVersion('v1.0.0', clone);
    expect(readFileSync(join(earlier.folder, 'earlier.txt'), 'utf8')).toBe('earlier');
    expect(realpathSync(join(earlier.folder, 'node_modules/kysely'))).toBe(
      realpathSync(join(clone, 'node_modules/kysely')),
    );
    expect(existsSync(join(clone, 'earlier.txt'))).toBe(false);
  });

  it('have packages of their own, where one that its services need is another', () => {
    writeFileSync(
      join(clone, 'package.json'),
      JSON.stringify({ name: 'clone', version: '1.0.0', workspaces: ['part'] }),
    );
    mkdirSync(join(clone, 'part'));
    writeFileSync(join(clone, 'part/package.json'), JSON.stringify({ name: 'part', version: '1.0.0' }));
    const lock = { name: 'clone', version: '1.0.0', lockfileVersion: 3, requires: true };
    const packages = {
      '': { name: 'clone', version: '1.0.0', workspaces: ['part'] },
      'node_modules/part': { resolved: 'part', link: true },
      part: { version: '1.0.0' },
    };
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    commit('v1.0.0');
    writeLock({});
    using earlier = checkOutVersion('v1.0.0', clone);
    expect(realpathSync(join(earlier.folder, 'node_modules/part'))).toBe(realpathSync(join(earlier.folder, 'part')));
  });

  it('cannot be those of a revision that is not there', () => {
    commit();
    expect(() => checkOutVersion('v9.9.9', clone)).toThrow('v9.9.9');
  });
});
