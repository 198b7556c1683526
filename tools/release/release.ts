import { execFileSync } from 'node:child_process';
import { existsSync, lutimesSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changelogProblems, releaseSection, unreleasedNotes } from './changelog.ts';
import { namedVersions, writeVersion } from './versions.ts';

export interface ReleaseOptions {
  /** The folder of the clone. */
  project: string;
  /** Three numbers: `1.2.3`. */
  version: string;
  /** Year, month and day. */
  date: string;
  /** Checks, and changes nothing. */
  dryRun: boolean;
  /** Commits what it writes, and tags it. */
  tag: boolean;
  say: (line: string) => void;
  /** Runs a step of the release: throws when it fails. */
  run: (command: string, args: readonly string[]) => void;
}

/**
 * Checks that a version can be released, and writes it: the notes, the changelog's section, the versions of all packages,
 * images and documents.
 *
 * @returns what forbids it; nothing was written then
 * @throws when a step fails after that, with the files as they were written: `git checkout .` takes them back
 */
export function release(options: ReleaseOptions): string[] {
  const { project, version, dryRun, say, run } = options;
  const changelogFile = join(project, 'CHANGELOG.md');
  const changelog = readFileSync(changelogFile, 'utf8');
  const problems = [...stateProblems(options), ...changelogProblems(changelog, version), ...versionProblems(project)];
  if (problems.length > 0) return problems;
  say('Checking everything (make check).');
  run('make', ['check']);
  if (dryRun) {
    say(`Version ${version} can be released. Nothing was written.`);
    return [];
  }
  const notes = join(project, '.data', `release-notes-${version}.md`);
  run('mkdir', ['-p', join(project, '.data')]);
  writeFileSync(notes, `${unreleasedNotes(changelog)}\n`);
  writeFileSync(changelogFile, releaseSection(changelog, options));
  writeVersion(project, version);
  keepInstallation(project);
  // The documents name the version of the API.
  run('npm', ['run', '--silent', 'openapi']);
  say(`The notes are in ${notes}.`);
  if (options.tag) commitAndTag(options);
  else {
    say(
      `Look at the changes, then: git commit -am 'Version ${version}' && git tag -a v${version} -m 'Version ${version}'`,
    );
    say('Or: git checkout . and the same with --tag, which writes, checks, commits and tags.');
  }
  return [];
}

/**
 * Of the lock only the versions of our own packages changed, which are links: what is installed is complete. Otherwise the
 * next command would install everything anew, because the lock is newer than the mark of the installation.
 */
function keepInstallation(project: string): void {
  const installed = join(project, 'node_modules/.install-complete');
  if (!existsSync(installed)) return;
  // A mark has whole milliseconds: rounded down, it would be the older one.
  const changedAt = Math.ceil(statSync(join(project, 'package-lock.json')).mtimeMs) / 1_000;
  lutimesSync(installed, changedAt, changedAt);
}

function commitAndTag({ version, run, say }: ReleaseOptions): void {
  run('make', ['check']);
  run('git', ['commit', '--quiet', '--all', '--message', `Version ${version}`]);
  run('git', ['tag', '--annotate', `v${version}`, '--message', `Version ${version}`]);
  say(`Committed and tagged v${version}. Push both: git push --follow-tags`);
}

function stateProblems({ project, version }: ReleaseOptions): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim();
  return [
    ...(/^\d+\.\d+\.\d+$/.test(version) ? [] : [`"${version}" is not a version: three numbers, such as 1.2.3`]),
    ...(git('status', '--porcelain') === '' ? [] : ['The working tree has changes: commit or remove them.']),
    ...(git('tag', '--list', `v${version}`) === '' ? [] : [`There is a tag v${version} already.`]),
  ];
}

/** All places name one version, so that none was forgotten before. */
function versionProblems(project: string): string[] {
  const named = namedVersions(project);
  const current = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).version;
  const others = named.filter((place) => place.version !== current);
  return others.map((place) => `${place.file}: names ${place.version}, the product is ${current}`);
}
