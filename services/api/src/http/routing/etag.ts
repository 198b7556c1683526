/** The versions that a client has seen (RFC 9110, section 13.1.1): entity tags with their quotes, or any at all. */
export type IfMatch = '*' | readonly string[];

/** An answer together with the tag of what it shows. */
export interface Tagged<Answer> {
  readonly etag: string;
  readonly tagged: Answer;
}

/**
 * The tag of a version. A strong one, because `If-Match` never matches a weak one; what it stands for is all that can
 * be changed, and not what is merely observed (`failing_since`), which nobody can overwrite by accident.
 */
export function versionTag(version: number): string {
  return `"${version}"`;
}

export function isTagged(answer: unknown): answer is Tagged<unknown> {
  return typeof answer === 'object' && answer !== null && 'tagged' in answer;
}

/** Whether the client has seen another version than this one. Who does not say what was seen, does not mind. */
export function isStale(ifMatch: IfMatch | null, version: number): boolean {
  return ifMatch !== null && ifMatch !== '*' && !ifMatch.includes(versionTag(version));
}

const element = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** Reads an `If-Match` header; undefined when it is not one. Weak tags stay in the list, where they match nothing. */
export function parseIfMatch(header: string): IfMatch | undefined {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  element.lastIndex = 0;
  while (element.lastIndex < header.length) {
    const found = element.exec(header);
    if (found === null) return undefined;
    // Empty elements are to be put up with (RFC 9110, section 5.6.1).
    if (found[1] !== undefined) tags.push(found[1]);
  }
  return tags.length > 0 ? tags : undefined;
}
