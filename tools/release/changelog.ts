/** A version of the changelog that is released. */
export interface ReleasedVersion {
  version: string;
  /** Year, month and day. */
  date: string;
}

const heading = /^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/gm;

/** The released versions, newest first, as the file has them. */
export function releasedVersions(changelog: string): ReleasedVersion[] {
  return [...changelog.matchAll(heading)].map(([, version = '', date = '']) => ({ version, date }));
}
