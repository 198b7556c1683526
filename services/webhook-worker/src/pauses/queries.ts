import type { Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';

/** The organizations whose deliveries are held back; the nil UUID stands for everybody. */
export async function readSendingPauses(db: Database): Promise<Uuid[]> {
  const rows = await db.selectFrom('sending_pauses').select('organization_id').execute();
  return rows.map(({ organization_id }) => organization_id);
}
