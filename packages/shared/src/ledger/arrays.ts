import { type RawBuilder, sql } from 'kysely';

/**
 * The text of a PostgreSQL array whose elements need no quotes, such as ids, numbers, times and our own codes. pg quotes
 * and escapes each element of an array: an outcome has more than twenty.
 */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join()}}`;
}

/** A `text[]` of JSON texts without line breaks. In an array, pg would escape all their quotes. */
export function lineArray(lines: readonly string[]): RawBuilder<string[]> {
  return sql`string_to_array(${lines.join('\n')}, E'\\n')`;
}
