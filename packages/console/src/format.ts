import { createStore } from './store.ts';

/** Whether times are shown in UTC instead of the time zone of the browser. */
export const inUtc = createStore(false);

const zoneOf = (utc: boolean) => (utc ? { timeZone: 'UTC' } : {});

/** `27 Nov 11:53:02` and `+01:00`: a time is never shown without its offset. */
export function timeParts(at: string, utc: boolean): { time: string; offset: string } {
  const date = new Date(at);
  const thisYear = date.getFullYear() === new Date().getFullYear();
  const day = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(!thisYear && { year: 'numeric' }),
    ...zoneOf(utc),
  });
  const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', ...zoneOf(utc) });
  const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'longOffset', ...zoneOf(utc) });
  const name = zone.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  return { time: `${day.format(date)} ${clock.format(date)}`, offset: name.replace('GMT', '') || '+00:00' };
}

/** The value of a field for a time, in the zone that the page shows. */
export function fieldTime(at: string | null, utc: boolean): string {
  const date = new Date(at ?? Number.NaN);
  const shown = new Date(date.getTime() - (utc ? 0 : date.getTimezoneOffset() * 60_000));
  return Number.isNaN(shown.getTime()) ? '' : shown.toISOString().slice(0, 16);
}

/** The time that such a field holds. */
export const timeOf = (value: string) => new Date(inUtc.get() ? `${value}Z` : value).toISOString();

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** `3 min. ago`, `in 2 days`. */
export function fromNow(at: string, now = Date.now()): string {
  const away = new Date(at).getTime() - now;
  const [unit, size] = steps.find(([, ms]) => Math.abs(away) >= ms) ?? ['second', 1000];
  return relative.format(Math.round(away / size), unit);
}

/** `2 d 3 h`, `4 min 10 s`, `310 ms`: two units at most. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const units: [string, number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ];
  const first = units.findIndex(([, size]) => ms >= size);
  let rest = ms;
  const parts = units.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count} ${unit}`;
  });
  return parts.filter(Boolean).join(' ');
}

const whole = new Intl.NumberFormat('en');
export const count = (value: number) => whole.format(value);

/** The server counts the waiting deliveries of a webhook up to this number. */
const maxCounted = 10_000;

/** A sum of such counts; `10,000+` if one of them may be higher. */
export const upTo = (...counts: number[]) =>
  count(counts.reduce((sum, value) => sum + value, 0)) + (counts.some((value) => value >= maxCounted) ? '+' : '');

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
export function bytes(value: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  const format = {
    style: 'unit',
    unit: byteUnits[power] as string,
    maximumFractionDigits: 1,
    unitDisplay: 'narrow',
  } as const;
  return new Intl.NumberFormat('en', format).format(value / 1000 ** power);
}

export const percent = (part: number, of: number) =>
  new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 }).format(of === 0 ? 0 : part / of);

/** `1 webhook`, `2 webhooks`. */
export const plural = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

// Control characters, and characters that are invisible or change the direction of text.
const deceptive = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Untrusted text, with the code points of deceptive characters. */
export const visible = (text: string) =>
  text.replace(
    deceptive,
    (character) => `⟨U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );

/** Like `JSON.parse`, but `JSON.stringify` writes each number as the text had it, if the browser can keep that text. */
export function parseExact(text: string): unknown {
  const { parse, rawJSON } = JSON as unknown as ExactJson;
  return parse(text, (_name, value, context) =>
    rawJSON && typeof value === 'number' && context?.source && context.source !== String(value)
      ? rawJSON(context.source)
      : value,
  );
}

/** TypeScript's libraries do not declare `rawJSON` yet. Older browsers lack it, and `context`. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, context?: { source?: string }) => unknown): unknown;
  rawJSON?(text: string): unknown;
}

/** JSON with indentation. Its tokens stay as they are: a long number would lose digits in a parser. */
export function pretty(json: string): string {
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.max(0, depth))}`;
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+/g, (token) => {
    if (token === '{' || token === '[') {
      depth += 1;
      return token + line();
    }
    if (token === '}' || token === ']') {
      depth -= 1;
      return line() + token;
    }
    if (token === ',') return token + line();
    if (token === ':') return ': ';
    return token.trim();
  });
}
