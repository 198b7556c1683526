// Node 22 and later have these functions, but producers may run on Node 20. TypeScript's libraries do not declare them
// yet.
declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
    rawJSON(text: string): object;
    isRawJSON?(value: unknown): boolean;
  }
}

/** A double preserves every number of up to 15 digits, so only text with longer numbers needs the reviver. */
const longNumber = /\d[\d.]{15}/;
const digitsADoubleKeeps = 15;

/**
 * Like `JSON.parse`, but preserves the text of a number with more digits than a double holds (`JSON.rawJSON`).
 * `JSON.stringify` then writes it unchanged. A double would change an id such as 12345678901234567890.
 * A number beyond a double's range becomes Infinity, as with `JSON.parse`.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactJson(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' &&
    Number.isFinite(value) &&
    source.length > digitsADoubleKeeps &&
    source !== String(value)
      ? JSON.rawJSON(source)
      : value,
  );
}

/** True if a value from {@link parseExactJson} is a number preserved as text. */
export function isExactNumber(value: unknown): boolean {
  return JSON.isRawJSON?.(value) ?? false;
}

/** Where JSON contains a value that cannot be stored, and why. */
export type Unstorable = { path: (string | number)[]; reason: string };

/** The maximum nesting depth of an event's `data`. */
export const maxJsonDepth = 20;

/**
 * Finds a part of parsed JSON that cannot be stored. That is nesting beyond {@link maxJsonDepth}, NUL or a lone
 * surrogate in a text, or a number beyond a double's range. The recursion ends at the maximum depth.
 */
export function findUnstorable(value: unknown, depth = 1): Unstorable | null {
  if (typeof value === 'string') {
    return isStorableText(value) ? null : { path: [], reason: 'must not contain NUL or lone surrogates' };
  }
  if (typeof value === 'number') {
    // JSON.parse turns 1e999 into Infinity, which JSON.stringify would turn into null.
    return Number.isFinite(value) ? null : { path: [], reason: 'must be a number that JSON can represent' };
  }
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return null;
  if (depth > maxJsonDepth) return { path: [], reason: `must not be nested deeper than ${maxJsonDepth}` };
  for (const key of Object.keys(value)) {
    if (!isStorableText(key)) return { path: [], reason: 'must not have keys with NUL or lone surrogates' };
    const found = findUnstorable((value as Record<string, unknown>)[key], depth + 1);
    if (found !== null) return { ...found, path: [Array.isArray(value) ? Number(key) : key, ...found.path] };
  }
  return null;
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export const maxTextLength = 200;

/** Counts characters as JSON Schema and PostgreSQL do: by code points. */
export function isShortText(text: string): boolean {
  return Array.from(text).length <= maxTextLength;
}
