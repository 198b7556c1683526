import type { Database, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export type Signer = Pick<
  Row<'webhooks'>,
  'id' | 'secret_sealed' | 'previous_secret_sealed' | 'previous_secret_expires_at'
>;

/** The organization's webhooks. After an overlap, the previous secret is null even before a worker erases it. */
export async function listSigners(db: Database, organizationId: Uuid): Promise<Signer[]> {
  const { rows } = await sql<Signer>`
    select id, secret_sealed, previous_secret_expires_at,
      case when previous_secret_expires_at > clock_timestamp() then previous_secret_sealed end as previous_secret_sealed
    from webhooks where organization_id = ${organizationId} and state <> 'deleted'`.execute(db);
  return rows;
}

export interface Sent {
  body: string | null;
  delivery_id: Uuid | null;
  /** While the delivery is pending, includes the present time, because a running attempt is not recorded yet. */
  attempt_times: Date[];
}

/** The event's stored body, and its delivery to the webhook. */
export async function findSent(
  db: Database,
  organizationId: Uuid,
  { webhookId, eventId }: { webhookId: Uuid; eventId: Uuid },
): Promise<Sent | undefined> {
  const { rows } = await sql<Sent>`
    select b.body, d.id as delivery_id,
      case when d.status = 'pending' then array[clock_timestamp()] else '{}' end
        || array(select started_at from all_attempts where delivery_id = d.id order by number limit 1000) as attempt_times
    from events e
    left join event_bodies b on b.event_id = e.id
    left join deliveries d on d.id = delivery_id(e.id, ${webhookId})
    where e.id = ${eventId} and e.organization_id = ${organizationId}`.execute(db);
  return rows[0];
}
