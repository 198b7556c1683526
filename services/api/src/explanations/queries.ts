import {
  type CanceledReason,
  type DeliveryStatus,
  subscribableEventTypeNames,
  type WaitingFor,
} from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  deliveryIdsOf,
  isBeingErased,
  type Row,
  subjectInBody,
} from '@enterprise-api/shared/ledger';
import { nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { canceledReason, effectiveStatus, isCanceledByWebhook, waitingFor } from '../deliveries/effective-status.ts';

/** Times as text have microseconds. */
export interface FannedOut extends Pick<Row<'events'>, 'type' | 'created_at' | 'erased_at'> {
  acceptedAt: string;
  fanned_out_at: Date | null;
  /** Whether the event still waits for its fan-out. */
  is_waiting: boolean;
  /** Whether a running erasure covers the event. Matters only while the event waits. */
  is_being_erased: boolean;
  /** A change that ended before this time was visible to the fan-out. */
  from: string;
  /** A change that began after this time was not visible to the fan-out. */
  until: string;
}

/**
 * Finds when an event was fanned out. A fan-out that takes over 500 ms or creates no delivery notes its times. Without
 * noted times, the fan-out began at most 500 ms before the first delivery. Without a time and a delivery, the event
 * still waits, an earlier version of the service fanned it out, or an erasure came first.
 */
export async function findFannedOut(
  db: Database | DatabaseTransaction,
  organizationId: Uuid,
  eventId: Uuid,
): Promise<FannedOut | undefined> {
  const { first, last } = deliveryIdsOf(eventId);
  const { rows } = await sql<FannedOut>`
    with event as materialized (
      select e.type, e.created_at, e.erased_at, f.began_at,
        least(f.ended_at, (
          select min(created_at) from deliveries where id between ${first} and ${last} and event_id = ${eventId}
        )) as fanned_out_at,
        exists (select from outbox where event_id = ${eventId})
          or exists (select from parked_events where event_id = ${eventId}) as is_waiting,
        ${isBeingErased(sql`e.organization_id`, sql`e.id`, subjectInBody)} as is_being_erased
      from events e left join event_bodies b on b.event_id = ${eventId} left join fan_outs f on f.event_id = ${eventId}
      where e.id = ${eventId} and e.organization_id = ${organizationId} and not e.test
        and e.type = any (${subscribableEventTypeNames}::text[])
    )
    select type, created_at, created_at::text as "acceptedAt", erased_at, fanned_out_at, is_waiting, is_being_erased,
      (case when fanned_out_at is not null then coalesce(began_at, fanned_out_at - interval '500 milliseconds')
            when is_waiting then now() else created_at end - interval '1 second')::text as "from",
      coalesce(fanned_out_at, case when not is_waiting then erased_at end, 'infinity')::text as until
    from event`.execute(db);
  return rows[0];
}

/** A configuration that a webhook may have had at a fan-out. */
export interface PossibleVersion {
  /** Null in versions before the ledger stored states. */
  state: Row<'webhooks'>['state'] | null;
  events: string[] | null;
  /** Whether the change to this version had surely ended before the fan-out began. */
  is_sure: boolean;
}

export interface WebhookAt extends Pick<Row<'webhooks'>, 'created_at' | 'updated_at' | 'state'> {
  webhook_id: Uuid;
  is_later: boolean;
  /** Whether the event is an operational event about this webhook. */
  is_subject: boolean;
  /** Null without a delivery, like the other columns of a delivery. */
  delivery_id: Uuid | null;
  status: DeliveryStatus | null;
  canceled_reason: CanceledReason | null;
  last_error: string | null;
  attempt_count: number | null;
  completed_at: Date | null;
  next_attempt_at: Date | null;
  waiting_for: WaitingFor | null;
  /** The newest version that was surely visible to the fan-out, and the later ones that may have been visible. */
  versions: PossibleVersion[];
}

interface Asked extends Partial<Pick<FannedOut, 'acceptedAt' | 'from' | 'until'>> {
  eventId?: Uuid;
  webhookId: Uuid | undefined;
}

/** Without an event, lists the webhooks that exist, as they are now. */
export async function listWebhooksAt(
  db: Database | DatabaseTransaction,
  organizationId: Uuid,
  { eventId = nilUuid, webhookId, acceptedAt, from, until }: Asked,
): Promise<WebhookAt[]> {
  const { first, last } = deliveryIdsOf(eventId);
  const accepted = sql`coalesce(${acceptedAt ?? null}::timestamptz, 'infinity')`;
  const { rows } = await sql<WebhookAt>`
    select d.*, d.id as delivery_id, p.next_attempt_at, ${waitingFor} as waiting_for, v.versions
    from (
      select webhooks.id as webhook_id, webhooks.created_at, webhooks.updated_at, webhooks.state,
        webhooks.created_at > ${accepted} as is_later,
        exists (select from operational_events where event_id = ${eventId} and about = webhooks.id) as is_subject, deliveries.id, ${effectiveStatus} as status,
        ${canceledReason} as canceled_reason, deliveries.last_error, deliveries.attempt_count,
        case when ${isCanceledByWebhook} then webhooks.updated_at else deliveries.completed_at end as completed_at
      from webhooks left join deliveries
        on deliveries.id = delivery_id(${eventId}, webhooks.id) and deliveries.id between ${first} and ${last}
      where webhooks.organization_id = ${organizationId} and webhooks.id = coalesce(${webhookId ?? null}, webhooks.id)
        and (webhooks.state <> 'deleted' or webhooks.updated_at > ${accepted} or deliveries.id is not null)
    ) d
    left join lateral (select * from pending_deliveries where delivery_id = d.id and d.status = 'pending' limit 1) p on true
    cross join lateral (${versionsAt(from, until)}) v
    order by d.created_at desc, d.webhook_id desc`.execute(db);
  return rows;
}

function versionsAt(from: string | undefined, until: string | undefined) {
  const isSure = sql`change_ended_at <= coalesce(${from ?? null}::timestamptz, now() - interval '1 second')`;
  return sql`
    select coalesce(json_agg(json_build_object('state', state, 'events', event_patterns, 'is_sure', ${isSure} is true)
      order by version), '[]') as versions
    from webhook_versions
    where webhook_id = d.webhook_id
      and coalesce(change_began_at, '-infinity') < coalesce(${until ?? null}::timestamptz, 'infinity')
      and version >= coalesce((select max(version) from webhook_versions where webhook_id = d.webhook_id and ${isSure}), 0)`;
}
