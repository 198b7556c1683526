import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** When the overlap of the last rotation ends; undefined when none is open. */
export async function findOpenOverlap(trx: DatabaseTransaction, id: Uuid): Promise<Date | undefined> {
  const row = await trx
    .selectFrom('webhooks')
    .select('previous_secret_expires_at')
    .where('id', '=', id)
    .where('previous_secret_expires_at', '>', sql<Date>`clock_timestamp()`)
    .executeTakeFirst();
  return row?.previous_secret_expires_at ?? undefined;
}

/** Gives a webhook a new secret; the secret before stays in use for the overlap. Raises the version. */
export async function replaceSecret(
  trx: DatabaseTransaction,
  webhook: { organizationId: Uuid; id: Uuid },
  { sealed, overlapSeconds }: { sealed: string; overlapSeconds: number },
): Promise<void> {
  await sql`
    update webhooks set secret_sealed = ${sealed}, version = version + 1, updated_at = clock_timestamp(),
      previous_secret_sealed = case when ${overlapSeconds} > 0 then secret_sealed end,
      previous_secret_expires_at = case when ${overlapSeconds} > 0 then clock_timestamp() + make_interval(secs => ${overlapSeconds}) end
    where organization_id = ${webhook.organizationId} and id = ${webhook.id}`.execute(trx);
}
