/**
 * How long a `Retry-After` header asks to wait, in milliseconds; null for none and for anything that is neither whole
 * seconds nor an HTTP date.
 *
 * @param now milliseconds since 1970
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Date.parse accepts far more than the dates of HTTP: it reads `1.5` as a day in 2001.
  const date = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
