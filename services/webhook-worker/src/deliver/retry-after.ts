import { maxRetryAfterMs } from './retry-policy.ts';

/** The three HTTP date formats (RFC 9110, 5.6.7). `Date.parse` accepts far more: it reads `1.5` as a day in 2001. */
const httpDate =
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$|^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d [\d:]{8} GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/**
 * Parses a `Retry-After` header into milliseconds, at most 24 h. Returns null if the header is missing, names a past
 * time, or is neither whole seconds nor an HTTP date.
 *
 * @param now milliseconds since 1970
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : null;
}

function parseHttpDate(text: string): number {
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
