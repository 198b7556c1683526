import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** Returns undefined if no replay is due to be counted, or if other workers have locked all due replays. */
export async function lockDueReplay(trx: DatabaseTransaction): Promise<Uuid | undefined> {
  const { rows } = await sql<{ id: Uuid }>`
    select id from replays where state = 'running' and count_due_at <= clock_timestamp()
    order by count_due_at limit 1 for update skip locked`.execute(trx);
  return rows[0]?.id;
}
