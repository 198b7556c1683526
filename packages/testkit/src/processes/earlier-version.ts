import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFolder } from './project-folder.ts';

/** The files of an earlier version, with its packages. */
export interface EarlierVersion extends Disposable {
  readonly folder: string;
}

/**
 * The revision of the version that was released last: UPGRADE_FROM, else the newest tag of a version that is not of this commit.
 * Undefined where there is none: before the first release, in a shallow clone, in an archive without git.
 */
export function releasedRevision(): string | undefined {
  const given = process.env.UPGRADE_FROM;
  if (given) return given;
  try {
    const tags = (...args: string[]) => git('tag', '--list', 'v*', ...args).split('\n');
    const ours = new Set(tags('--points-at', 'HEAD'));
    return tags('--sort=-version:refname').find((tag) => tag !== '' && !ours.has(tag));
  } catch {
    return undefined;
  }
}

/** Puts the files of a revision into a folder of their own, and installs their packages: from npm's cache, where it has them. */
export function checkOutVersion(revision: string): EarlierVersion {
  const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-earlier-'));
  const archive = execFileSync('git', ['archive', revision], { cwd: projectFolder, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const lock = (place: string) => readFileSync(join(place, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(projectFolder)) linkPackages(projectFolder, folder);
  else {
    const install = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Gives a copy of this project the packages of another one: links to them, but of our own packages those of the copy. */
export function linkPackages(from: string, to: string): void {
  const folder = join(to, 'node_modules');
  mkdirSync(folder);
  for (const name of readdirSync(join(from, 'node_modules'))) {
    const [source, target] = [join(from, 'node_modules', name), join(folder, name)];
    if (name === '@enterprise-api') cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(source, target);
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: projectFolder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
