import type { Database } from '@enterprise-api/shared/ledger';
import { nilUuid, type Uuid } from '@enterprise-api/shared/runtime';

/** Whose delivery it is. The id tells its partition. */
export async function findOrganizationOfDelivery(db: Database, id: Uuid): Promise<Uuid | undefined> {
  const row = await db.selectFrom('deliveries').select('organization_id').where('id', '=', id).executeTakeFirst();
  return row?.organization_id;
}

/** Whose webhook it is, with its health, and whether its deliveries are paused. */
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
