import { type RawBuilder, sql } from 'kysely';

/**
 * The text of a PostgreSQL array whose elements need no quotes: ids, numbers, booleans, instants, our own codes. The
 * driver quotes and escapes every element of an array that it is given, with two regular expressions each: for an
 * outcome's 20 columns that was 5 µs.
 */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/**
 * A `text[]` of lines: texts without a line break, such as JSON. In an array's own notation every quote would be escaped
 * here and unescaped there: with bodies of 1 KiB that was 18 µs of the API's per event, and 4 of the database's.
 */
export function lineArray(lines: readonly string[]): RawBuilder<string[]> {
  return sql`string_to_array(${lines.join('\n')}, E'\\n')`;
}
