import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, uuidTimeMs, withUuidTime } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** What deliveries leave behind that were made and sent over the last minutes. */
export interface DeadRows {
  organizationId: string;
  webhookId: string;
  /** In each table. */
  rows: number;
  overMs: number;
}

/** Of a delivery that is sent at once: its lease lasts for so long, and its row is deleted long before. */
const leaseMs = 45_000;
const steps = 50;

/**
 * Inserts rows into the outbox and among the pending deliveries, as events that are sent at once do, and deletes them. Nobody
 * else sees them, because each transaction deletes what it has inserted.
 */
export async function makeDeadRows(db: Database, { rows, overMs, ...owner }: DeadRows): Promise<void> {
  const [perStep, stepMs, begunAt] = [Math.ceil(rows / steps), overMs / steps, Date.now() - overMs];
  for (let step = 0; step < steps; step++) {
    const ids = Array.from({ length: perStep }, (_, nth) =>
      withUuidTime(newUuid(), Math.floor(begunAt + (step + nth / perStep) * stepMs)),
    );
    await db.transaction().execute(async (trx) => {
      await insert(trx, owner, ids);
      await sql`delete from outbox where event_id = any (${ids}::uuid[])`.execute(trx);
      await sql`delete from pending_deliveries where delivery_id = any (${ids}::uuid[])`.execute(trx);
    });
  }
}

type Owner = Pick<DeadRows, 'organizationId' | 'webhookId'>;

async function insert(trx: Database, { organizationId, webhookId }: Owner, ids: readonly string[]): Promise<void> {
  const due = ids.map((id) => new Date(uuidTimeMs(id) + leaseMs).toISOString());
  await sql`insert into outbox (event_id, organization_id) select unnest(${ids}::uuid[]), ${organizationId}`.execute(
    trx,
  );
  await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts, lease_count)
    select id, ${webhookId}, ${organizationId}, id, 'batch.failed', due, 3, 1
    from unnest(${ids}::uuid[], ${due}::timestamptz[]) as made (id, due)`.execute(trx);
}
