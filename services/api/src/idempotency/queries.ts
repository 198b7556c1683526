import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
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
}

/** By the time of the transaction, which does not move: the index on `created_at` is of no use to a clock that does. */
const isInForce = sql<boolean>`created_at > now() - interval '24 hours'`;

/**
 * Takes the lock of an id until the transaction ends, however it ends: a process that dies gives it back with its
 * connection. Does not wait; false when another transaction has it.
 */
export async function tryLock(trx: DatabaseTransaction, id: Buffer): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${id.readBigInt64BE().toString()}::bigint) as locked`.execute(trx);
  return rows[0]?.locked ?? false;
}

/** To be asked with the lock held: what its last holder wrote is then seen. */
export async function findAnswer(trx: DatabaseTransaction, id: Buffer): Promise<StoredAnswerRow | undefined> {
  return trx
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'status', 'headers', 'body_sealed'])
    .where('id', '=', id)
    .where(isInForce)
    .executeTakeFirst();
}

/** Writes an answer, in the place of an expired one if there is one. */
export async function saveAnswer(trx: DatabaseTransaction, { id, ...answer }: NewAnswerRow): Promise<void> {
  await trx
    .insertInto('idempotency_keys')
    .values({ id, ...answer })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...answer, created_at: sql<Date>`clock_timestamp()` }),
    )
    .execute();
}

/** Deletes the oldest of the expired ones; rows that another process is at are left to it. @returns how many */
export async function deleteExpired(db: Database, limit: number): Promise<number> {
  const { rows } = await sql`
    with expired as materialized (
      select id from idempotency_keys where not ${isInForce} order by created_at limit ${limit} for update skip locked
    )
    delete from idempotency_keys where id in (select id from expired) returning id`.execute(db);
  return rows.length;
}
