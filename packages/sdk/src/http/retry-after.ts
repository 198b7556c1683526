/**
 * Parses a `Retry-After` header into milliseconds. Returns null if the header is missing, or is neither whole seconds
 * nor an HTTP date.
 *
 * @param now milliseconds since 1970
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Date.parse accepts more than HTTP dates: it reads `1.5` as a day in 2001.
  const date = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
