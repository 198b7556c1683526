import type { Database, Row } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

export async function readProgress(db: Database): Promise<Row<'retention_progress'>> {
  return db.selectFrom('retention_progress').selectAll().executeTakeFirstOrThrow();
}

export async function saveKeysRemoved(db: Database, until: Date): Promise<void> {
  await db.updateTable('retention_progress').set({ keys_removed_until: until }).execute();
}

export async function saveCompleted(db: Database, keptMonths: number): Promise<void> {
  await sql`update retention_progress set completed_at = clock_timestamp(), kept_months = ${keptMonths}`.execute(db);
}

/** @returns whether it is a day since this was last true: the log says so once a day, whichever process runs */
export async function mayLogKept(db: Database): Promise<boolean> {
  const { rows } = await sql`
    update retention_progress set kept_logged_at = clock_timestamp()
    where kept_logged_at is null or kept_logged_at < clock_timestamp() - interval '1 day' returning only_row`.execute(
    db,
  );
  return rows.length > 0;
}
