import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';

/**
 * `make release ARGS="1.2.3 --dry-run"`: says what forbids a release; else writes the section of the changelog, the version
 * of all packages, images and documents, and which migrations never change from now on. `npm version` would ask the registry
 * for our own packages, and knows no manifests.
 */
const [version = '', option] = process.argv.slice(2);
const run = (command: string, ...args: string[]) => void execFileSync(command, args, { stdio: 'inherit' });
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const unreleased = '\n## [Unreleased]\n';
const [, latest = '0.0.0'] = /^## \[(\d+\.\d+\.\d+)\] - /m.exec(changelog) ?? [];

/** The places that name the version; the first group is the text before it. */
const named =
  /("name": "(?:@enterprise-api\/[\w-]+|enterprise-api|receiver)",\s+"version": "|"@enterprise-api\/[\w-]+": "|newTag: |image: enterprise-api\/[\w-]+:)(\d+\.\d+\.\d+)/g;
const files = globSync([
  'package{,-lock}.json',
  '{packages,services}/*/package.json',
  'examples/receivers/node/package.json',
  'deploy/kubernetes/**/*.yaml',
]);

const problems = problemsOf();
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exit(1);
run('make', 'check');
if (option !== '--dry-run') write();

function problemsOf(): string[] {
  const versions = new Set(
    files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(named)].map(([, , it]) => it)),
  );
  const hasNotes = changelog.split(unreleased)[1]?.split('\n## ')[0]?.trim();
  const isNewer = version.localeCompare(latest, 'en', { numeric: true }) > 0;
  return [
    ...(/^\d+\.\d+\.\d+$/.test(version) ? [] : [`"${version}" is not a version: three numbers, such as 1.2.3`]),
    ...(isNewer ? [] : [`CHANGELOG.md: ${version} is not newer than ${latest}`]),
    ...(git('status', '--porcelain') === '' ? [] : ['The working tree has changes: commit or remove them.']),
    ...(git('tag', '--list', `v${version}`) === '' ? [] : [`There is a tag v${version} already.`]),
    ...(hasNotes ? [] : ['CHANGELOG.md: there are no notes below [Unreleased]']),
    ...(versions.size === 1 ? [] : [`Packages and manifests name several versions: ${[...versions].join(', ')}`]),
  ];
}

function write(): void {
  const section = `${unreleased}\n## [${version}] - ${new Date().toISOString().slice(0, 10)}\n`;
  writeFileSync('CHANGELOG.md', changelog.replace(unreleased, section));
  for (const file of files)
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(named, (_all, before) => before + version),
    );
  for (const script of ['openapi', 'released-migrations']) run('npm', 'run', '--silent', script);
  // Only versions of our own packages changed in the lock, which are links: the next command need not install anything.
  utimesSync('node_modules/.install-complete', new Date(), new Date());
  const [commit, tag] = [`git commit -am 'Version ${version}'`, `git tag -a v${version} -m 'Version ${version}'`];
  process.stdout.write(`Look at the changes, then: ${commit} && ${tag}\n`);
}
