import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { linkPackages } from './link-packages.ts';
import { projectFolder } from './project-folder.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** The files of an earlier version, with the packages that its services need. */
export interface EarlierVersion extends Disposable {
  readonly folder: string;
}

const tagOfVersion = /^v\d+\.\d+\.\d+$/;

/**
 * The revision that was released last before this one: UPGRADE_FROM, else the newest tag of a version in the history of this
 * commit that is not of this commit itself. Undefined where there is none: before the first release, in a clone without tags
 * or without history, in an archive without git.
 */
export function releasedRevision(project = projectFolder, given = process.env.UPGRADE_FROM): string | undefined {
  if (given) return given;
  try {
    // An archive may lie in the working tree of something else.
    if (realpathSync(git(project, 'rev-parse', '--show-toplevel')) !== realpathSync(project)) return undefined;
    const tags = (...args: string[]) => git(project, 'tag', '--list', ...args).split('\n');
    const ours = new Set(tags('--points-at', 'HEAD'));
    const released = tags('--merged', 'HEAD', '--sort=-version:refname');
    return released.find((tag) => tagOfVersion.test(tag) && !ours.has(tag));
  } catch {
    return undefined;
  }
}

/**
 * Puts the files of a revision into a folder of their own, with the packages that its services need: those of this project
 * where they are the same, else installed by npm, which asks its registry for what it has not kept.
 */
export function checkOutVersion(revision: string, project = projectFolder): EarlierVersion {
  using building = new DisposableStack();
  const { path: folder } = building.use(createTemporaryFolder('earlier'));
  const archive = execFileSync('git', ['archive', revision], { cwd: project, stdio: 'pipe', maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  if (hasPackagesOf(project, folder)) linkPackages(project, folder);
  else installPackages(folder);
  const resources = building.move();
  return { folder, [Symbol.dispose]: () => resources.dispose() };
}

interface LockedPackage {
  version?: string;
  link?: boolean;
  dev?: boolean;
}

/** Where the packages of the services are; the command line and others of ours have some of their own. */
const ofServices = /^((services\/[^/]+|packages\/shared)\/)?node_modules\//;

/** Whether every package that the services in a folder need is in the project, at the same place and in the same version. */
function hasPackagesOf(project: string, folder: string): boolean {
  const [ours, theirs] = [lockedPackages(project), lockedPackages(folder)];
  const needed = Object.entries(theirs).filter(([place, { dev }]) => ofServices.test(place) && !dev);
  return needed.every(
    // Links are made of what the project has at its top.
    ([place, { version, link }]) =>
      place.startsWith('node_modules/') && ours[place]?.version === version && ours[place]?.link === link,
  );
}

function lockedPackages(project: string): Record<string, LockedPackage> {
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
  return packages;
}

function installPackages(folder: string): void {
  const options = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', ...options], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

function git(project: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
