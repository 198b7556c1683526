import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { PoolClient } from 'pg';

const mark = '/* prepared */';

/**
 * In front of a hot statement, this makes every connection parse and plan the statement only once. Planning fan-out or
 * outcomes takes 0.6 to 1 ms, which is more than running them for a few rows. The statement's text must never vary, so
 * pass lists as arrays. For poolers that do not follow named statements: `DATABASE_PREPARED_STATEMENTS=false`.
 */
export const prepared = sql.raw(mark);

const names = new Map<string, string>();

/** Sends statements by name: the marked ones, or all that have parameters. */
export function prepareStatements(client: PoolClient, which: 'marked' | 'all'): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const byName = (text: unknown, ...rest: unknown[]) =>
    typeof text === 'string' && (which === 'all' ? Array.isArray(rest[0]) : text.startsWith(mark))
      ? query({ name: nameOf(text), text, values: rest[0] }, ...rest.slice(1))
      : query(text, ...rest);
  client.query = byName as PoolClient['query'];
}

/** A hash gives another version of the statement another name, even on a connection that a pooler shares. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('hex').slice(0, 32);
    names.set(text, name);
  }
  return name;
}
