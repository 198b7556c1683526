import { maxRetryAfterMs } from './retry-policy.ts';

const day = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const longDay = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';

/** The three HTTP date formats (RFC 9110, 5.6.7). `Date.parse` accepts far more: it reads `1.5` as a day in 2001. */
const dateFormats = [
  new RegExp(`^${day}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${longDay}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^${day} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Parses a `Retry-After` header into milliseconds, at most 24 h. Returns null if the header is missing, names a past
 * time, or is neither whole seconds nor an HTTP date.
 *
 * @param now milliseconds since 1970
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text, now) - now;
  return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : null;
}

function parseHttpDate(text: string, now: number): number {
  for (const format of dateFormats) {
    const parts = format.exec(text)?.groups;
    if (parts === undefined) continue;
    const year = Number(parts.year);
    const fields: [number, number, number, number, number] = [
      months.indexOf(parts.month ?? ''),
      Number(parts.day),
      Number(parts.hour),
      Number(parts.minute),
      Number(parts.second),
    ];
    if (fields[1] < 1 || fields[1] > 31 || fields[2] > 23 || fields[3] > 59 || fields[4] > 60) return Number.NaN;
    return Date.UTC(parts.year?.length === 2 ? fullYear(year, now) : year, ...fields);
  }
  return Number.NaN;
}

/** A two-digit year more than 50 years ahead means a past year. */
function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = Math.floor(thisYear / 100) * 100 + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
