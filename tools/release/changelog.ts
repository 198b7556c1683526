/** A version of the changelog that is released. */
export interface ReleasedVersion {
  version: string;
  /** Year, month and day. */
  date: string;
}

const released = /^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/gm;
const unreleased = '## [Unreleased]';

/** The released versions, newest first, as the file has them. */
export function releasedVersions(changelog: string): ReleasedVersion[] {
  return [...changelog.matchAll(released)].map(([, version = '', date = '']) => ({ version, date }));
}

/** What stands below a heading, up to the next one of the same level. Undefined without such a heading. */
function sectionOf(changelog: string, heading: string): string | undefined {
  const lines = changelog.split('\n');
  const first = lines.indexOf(heading);
  if (first === -1) return undefined;
  const next = lines.findIndex((line, index) => index > first && line.startsWith('## '));
  return lines
    .slice(first + 1, next === -1 ? undefined : next)
    .join('\n')
    .trim();
}

/** What the next version changes. */
export function unreleasedNotes(changelog: string): string {
  return sectionOf(changelog, unreleased) ?? '';
}

/** Makes what is not released a version, with an empty section for the next one before it. */
export function releaseSection(changelog: string, { version, date }: ReleasedVersion): string {
  return changelog.replace(unreleased, `${unreleased}\n\n## [${version}] - ${date}`);
}

const groups = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

/** What is wrong with the changelog for a release of this version. */
export function changelogProblems(changelog: string, version: string): string[] {
  const notes = unreleasedNotes(changelog);
  const headings = [...notes.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => heading);
  const unknown = headings.filter((heading) => !groups.includes(heading));
  const last = releasedVersions(changelog)[0]?.version;
  return [
    ...(changelog.includes(`\n${unreleased}\n`) ? [] : [`it has no section "${unreleased}"`]),
    ...(notes === '' ? ['nothing stands below [Unreleased]'] : []),
    ...unknown.map((heading) => `"### ${heading}" is none of ${groups.join(', ')}`),
    ...new Set(
      headings
        .filter((heading, index) => headings.indexOf(heading) !== index)
        .map((twice) => `"### ${twice}" stands twice`),
    ),
    ...(last !== undefined && !isNewer(version, last) ? [`${version} is not newer than ${last}`] : []),
  ].map((problem) => `CHANGELOG.md: ${problem}`);
}

/** By the numbers of both versions. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const place = one.findIndex((number, index) => number !== other[index]);
  return place !== -1 && (one[place] ?? 0) > (other[place] ?? 0);
}
