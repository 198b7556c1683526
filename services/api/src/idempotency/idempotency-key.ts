import { hash } from 'node:crypto';

/**
 * The `Idempotency-Key` of a request: 1 to 255 visible ASCII characters. Null when there is none, undefined when what is
 * there is no such key, or is there twice.
 *
 * @param values the header's values one by one: Node would join two to one that nobody sent
 */
export function parseIdempotencyKey(values: readonly string[] | undefined): string | null | undefined {
  if (values === undefined) return null;
  const [key = '', ...more] = values;
  return more.length === 0 && /^[\x21-\x7e]{1,255}$/.test(key) ? key : undefined;
}

/**
 * What a key was used for: SHA-256 of what was asked for, as the client said it. Of the JSON and not of its bytes, so
 * that a client may write it anew for each try; before defaults and conversions, so that another version of ours finds
 * the same.
 */
export function fingerprint(query: string, json: unknown): Buffer {
  return hash('sha256', JSON.stringify([query, canonical(json)]), 'buffer');
}

/** The same value whatever the order of its fields. The parser has bounded its depth. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, canonical(field)]);
  return { fields: fields.sort(([left], [right]) => (left < right ? -1 : 1)) };
}
