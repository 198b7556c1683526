import { hash } from 'node:crypto';

export const notModified = 304;

/** The entity tags of an `If-Match` or `If-None-Match`, with their quotes, or `*` (RFC 9110, section 13.1). */
export type IfMatch = '*' | readonly string[];

export interface Tagged<Answer> {
  readonly etag: string;
  readonly tagged: Answer;
}

/**
 * The tag of a version. It is strong, because `If-Match` never matches a weak tag.
 *
 * @param observed fields that change without a new version, such as `failing_since`. `If-None-Match` must notice their
 *   change. `If-Match` ignores them, because no client can overwrite them.
 */
export function versionTag(version: number, observed: readonly (string | null)[] = []): string {
  const isPlain = observed.every((value) => value === null);
  return isPlain ? `"${version}"` : `"${version}-${hash('sha256', JSON.stringify(observed), 'hex').slice(0, 8)}"`;
}

function isOfVersion(tag: string, version: number): boolean {
  return tag === `"${version}"` || tag.startsWith(`"${version}-`);
}

/** Whether the client last saw another version than the current one. Without `If-Match` the change always applies. */
export function isStale(ifMatch: IfMatch | null, version: number): boolean {
  return ifMatch !== null && ifMatch !== '*' && !ifMatch.some((tag) => isOfVersion(tag, version));
}

/** Whether the client already has the current answer. An unreadable `If-None-Match` has no effect. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  const tags = header === undefined ? undefined : parseIfMatch(header);
  return tags === '*' || (tags?.some((tag) => tag.replace(/^W\//, '') === etag) ?? false);
}

const element = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Parses `If-Match` or `If-None-Match`; undefined if malformed. Keeps weak tags, which match nothing under `If-Match`.
 */
export function parseIfMatch(header: string): IfMatch | undefined {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  element.lastIndex = 0;
  while (element.lastIndex < header.length) {
    const found = element.exec(header);
    if (found === null) return undefined;
    // RFC 9110, section 5.6.1: a recipient must accept empty list elements.
    if (found[1] !== undefined) tags.push(found[1]);
  }
  return tags.length > 0 ? tags : undefined;
}
