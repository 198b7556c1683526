import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that names the version of the product, and how. The first group is what precedes it. */
interface Place {
  files: string;
  pattern: RegExp;
}

const version = String.raw`\d+\.\d+\.\d+`;
const ours = String.raw`"@enterprise-api/[\w-]+": "`;

const places: readonly Place[] = [
  {
    files: '{package.json,{packages,services}/*/package.json,examples/receivers/node/package.json}',
    // The version of the package, which stands at the top, and those of our other packages that it needs.
    pattern: new RegExp(`(^  "version": "|${ours})${version}`, 'gm'),
  },
  { files: 'deploy/kubernetes/**/kustomization.yaml', pattern: new RegExp(`(newTag: )${version}`, 'g') },
  {
    files: 'deploy/kubernetes/base/*.yaml',
    pattern: new RegExp(String.raw`(image: enterprise-api/[\w-]+:)${version}`, 'g'),
  },
];

/** Every place that names the version: its file and what stands there. */
export function namedVersions(project: string): { file: string; version: string }[] {
  return eachFile(project).flatMap(({ file, pattern, text }) =>
    [...text.matchAll(pattern)].map(([found, before = '']) => ({ file, version: found.slice(before.length) })),
  );
}

/** Writes the version to all of these places, and to the lock. */
export function writeVersion(project: string, next: string): void {
  for (const { file, pattern, text } of eachFile(project)) {
    const written = text.replace(pattern, (_found, before: string) => before + next);
    if (written !== text) writeFileSync(join(project, file), written);
  }
  const lock = join(project, 'package-lock.json');
  writeFileSync(lock, lockAt(readFileSync(lock, 'utf8'), next));
}

/** As much of package-lock.json as names our own packages. */
interface Lock {
  version: string;
  packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
}

/** npm would ask its registry for it, and might lock other packages anew. */
function lockAt(text: string, next: string): string {
  const lock = JSON.parse(text) as Lock;
  lock.version = next;
  for (const [folder, entry] of Object.entries(lock.packages)) {
    if (folder.includes('node_modules/') || entry.version === undefined) continue;
    entry.version = next;
    const { dependencies = {} } = entry;
    for (const name of Object.keys(dependencies)) if (name.startsWith('@enterprise-api/')) dependencies[name] = next;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

function eachFile(project: string) {
  return places.flatMap(({ files, pattern }) =>
    globSync(files, { cwd: project, exclude: (name) => name === 'node_modules' })
      .sort()
      .map((file) => ({ file, pattern, text: readFileSync(join(project, file), 'utf8') })),
  );
}
