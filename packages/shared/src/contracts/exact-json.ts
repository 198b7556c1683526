// Node has these since version 22, and producers may run on 20. The compiler's libraries do not declare them yet.
declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
    rawJSON(text: string): object;
    isRawJSON?(value: unknown): boolean;
  }
}

/** A double keeps every number of up to 15 digits. Only text with longer ones needs the reviver. */
const longNumber = /\d[\d.]{15}/;
const digitsADoubleKeeps = 15;

/**
 * `JSON.parse`, except that a number with more digits than a double keeps stays as it was written (`JSON.rawJSON`), so
 * that `JSON.stringify` writes it unchanged: an id such as 12345678901234567890 would otherwise become another one. A
 * number beyond a double's range is Infinity, as with `JSON.parse`.
 *
 * @throws SyntaxError when it is not JSON
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

/** Whether a value from {@link parseExactJson} is a number kept as text. */
export function isExactNumber(value: unknown): boolean {
  return JSON.isRawJSON?.(value) ?? false;
}
