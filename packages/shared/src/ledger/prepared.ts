import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { PoolClient } from 'pg';

const mark = '/* prepared */';

/**
 * A mark in front of a hot statement: each connection then parses and plans the statement only once. Planning the
 * statements of fan-out or outcomes takes 0.6 to 1 ms. With few rows, running such a statement takes less. The
 * statement's text must never vary, so pass lists as arrays. For poolers that do not support named statements, set
 * `DATABASE_PREPARED_STATEMENTS=false`.
 */
export const prepared = sql.raw(mark);

const names = new Map<string, string>();

/** Sends statements under a name: either the marked statements, or all statements that have parameters. */
export function prepareStatements(client: PoolClient, which: 'marked' | 'all'): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const byName = (text: unknown, ...rest: unknown[]) =>
    typeof text === 'string' && (which === 'all' ? Array.isArray(rest[0]) : text.startsWith(mark))
      ? query({ name: nameOf(text), text, values: rest[0] }, ...rest.slice(1))
      : query(text, ...rest);
  client.query = byName as PoolClient['query'];
}

/** The name is a hash of the text. A pooler may share connections, so different texts need different names. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
}
