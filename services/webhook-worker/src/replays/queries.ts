import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

const due = sql`from replays where state = 'running' and count_due_at <= clock_timestamp() order by count_due_at limit 1`;

export async function hasDueReplay(db: Database): Promise<boolean> {
  return (await sql`select ${due}`.execute(db)).rows.length > 0;
}

/** Returns undefined if other workers count every replay that is due. */
export async function lockDueReplay(trx: DatabaseTransaction): Promise<Uuid | undefined> {
  const { rows } = await sql<{ id: Uuid }>`select id ${due} for update skip locked`.execute(trx);
  return rows[0]?.id;
}
