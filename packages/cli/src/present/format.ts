/** `2026-11-22T08:00:00.000Z` → `2026-11-22 08:00:00`. All printed times are in UTC. A missing time prints as `-`. */
export function time(instant: string | null | undefined): string {
  return instant ? instant.slice(0, 19).replace('T', ' ') : '-';
}

/** Prints a missing or unknown value as `-`. */
export function orDash(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === '' ? '-' : String(value);
}

/** `1,234,567` */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1536` → `1.5 KiB` */
export function bytes(number: number): string {
  const exponent = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, number)) / 10));
  const value = number / 1024 ** exponent;
  return `${exponent === 0 ? value : value.toFixed(1)} ${units[exponent]}`;
}

/** Indents JSON. Any other text stays unchanged. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
