import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export interface StoredAnswerRow {
  fingerprint: Buffer;
  status: number;
  headers: Record<string, string>;
  body_sealed: string | null;
}

export interface NewAnswerRow extends StoredAnswerRow {
  id: Buffer;
  organization_id: string;
  about_organization_id: Uuid | null;
}

/**
 * `now()` is constant within a transaction, so the index on `created_at` can serve this condition. With
 * `clock_timestamp()` the index could not.
 */
const isInForce = sql<boolean>`created_at > now() - interval '24 hours'`;

/**
 * Locks an id until the transaction ends, without waiting. If the process dies, PostgreSQL releases the lock with the
 * connection.
 *
 * @returns false when another transaction holds the lock
 */
export async function tryLock(trx: DatabaseTransaction, id: Buffer): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${id.readBigInt64BE().toString()}::bigint) as locked`.execute(trx);
  return rows[0]?.locked ?? false;
}

/** Call with the lock held. Otherwise the previous holder's answer may not be visible yet. */
export async function findAnswer(trx: DatabaseTransaction, id: Buffer): Promise<StoredAnswerRow | undefined> {
  return trx
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'status', 'headers', 'body_sealed'])
    .where('id', '=', id)
    .where(isInForce)
    .executeTakeFirst();
}

export async function saveAnswer(trx: DatabaseTransaction, { id, ...answer }: NewAnswerRow): Promise<void> {
  await trx
    .insertInto('idempotency_keys')
    .values({ id, ...answer })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...answer, created_at: sql<Date>`clock_timestamp()` }),
    )
    .execute();
}

export async function hasSubject(trx: DatabaseTransaction, eventId: Uuid): Promise<boolean> {
  const row = await trx
    .selectFrom('event_subjects')
    .select('event_id')
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Deletes the oldest expired answers, except rows that another process is deleting.
 *
 * @returns the number of deleted rows
 */
export async function deleteExpired(db: Database, limit: number): Promise<number> {
  const { rows } = await sql`
    with expired as materialized (
      select id from idempotency_keys where not ${isInForce} order by created_at limit ${limit} for update skip locked
    )
    delete from idempotency_keys where id in (select id from expired) returning id`.execute(db);
  return rows.length;
}
