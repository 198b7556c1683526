/** `2026-11-22T08:00:00.000Z` → `2026-11-22 08:00:00`, UTC like every time that is printed; `-` for none. */
export function time(instant: string | null | undefined): string {
  return instant ? instant.slice(0, 19).replace('T', ' ') : '-';
}

/** `-` for what is not known or not there. */
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

/** Text of an answer or a body: JSON with line breaks and indentation, anything else as it is. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
