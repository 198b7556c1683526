import { hash } from 'node:crypto';

/**
 * The `Idempotency-Key` of a request: 1 to 255 visible ASCII characters. Null without the header, undefined when it is
 * invalid or sent twice.
 *
 * @param values the values of each header line: Node's joined value cannot tell two keys from one
 */
export function parseIdempotencyKey(values: readonly string[] | undefined): string | null | undefined {
  if (values === undefined) return null;
  const [key = '', ...more] = values;
  return more.length === 0 && /^[\x21-\x7e]{1,255}$/.test(key) ? key : undefined;
}

/**
 * SHA-256 of the query and the body that a key was used with. Of the parsed JSON and not its bytes, so that a client may
 * serialize it again for each try; before defaults and conversions, so that it is the same in our next version.
 */
export function fingerprint(query: string, json: unknown): Buffer {
  return hash('sha256', JSON.stringify([query, canonical(json)]), 'buffer');
}

/** A form of the value that does not depend on the order of its fields. The parser has bounded its depth. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, canonical(field)]);
  return { fields: fields.sort(([left], [right]) => (left < right ? -1 : 1)) };
}
