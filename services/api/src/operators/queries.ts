import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** Null means all organizations. */
export type SendingOf = Uuid | null;

const keyOf = (whose: SendingOf): Uuid => whose ?? nilUuid;

export async function findPause(db: Database, whose: SendingOf): Promise<Date | null> {
  const row = await db
    .selectFrom('sending_pauses')
    .select('paused_at')
    .where('organization_id', '=', keyOf(whose))
    .executeTakeFirst();
  return row?.paused_at ?? null;
}

/**
 * Keeps the start of an existing pause. A concurrent resumption waits for this transaction.
 *
 * @returns the start of the pause, and whether the pause is new
 */
export async function insertPause(trx: DatabaseTransaction, whose: SendingOf) {
  return trx
    .insertInto('sending_pauses')
    .values({ organization_id: keyOf(whose) })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({ paused_at: sql.ref('sending_pauses.paused_at') }),
    )
    .returning(['paused_at', sql<boolean>`xmax = 0`.as('is_new')])
    .executeTakeFirstOrThrow();
}

/** @returns whether a pause existed */
export async function deletePause(trx: DatabaseTransaction, whose: SendingOf): Promise<boolean> {
  const rows = await trx
    .deleteFrom('sending_pauses')
    .where('organization_id', '=', keyOf(whose))
    .returning('paused_at')
    .execute();
  return rows.length > 0;
}

/** Reads a single partition, because the id determines the partition. */
export async function findOrganizationOfDelivery(db: Database, id: Uuid): Promise<Uuid | undefined> {
  const row = await db.selectFrom('deliveries').select('organization_id').where('id', '=', id).executeTakeFirst();
  return row?.organization_id;
}

export async function findOwnerAndHealth(db: Database, id: Uuid) {
  return db
    .selectFrom('webhooks as w')
    .leftJoin('webhook_health as h', 'h.webhook_id', 'w.id')
    .select(['w.organization_id', 'h.consecutive_failures', 'h.failed_attempts', 'h.openings', 'h.open_until'])
    .select(({ exists, selectFrom, ref }) =>
      exists(
        selectFrom('sending_pauses as p')
          .select('p.organization_id')
          .where(({ or, eb }) =>
            or([eb('p.organization_id', '=', ref('w.organization_id')), eb('p.organization_id', '=', nilUuid)]),
          ),
      ).as('sending_paused'),
    )
    .where('w.id', '=', id)
    .executeTakeFirst();
}
