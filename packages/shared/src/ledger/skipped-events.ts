import { type RawBuilder, sql } from 'kysely';
import { deliveryStatuses, type EventType } from '../contracts/index.ts';
import type { Uuid } from '../runtime/ids.ts';
import { type BodyDays, daysBetween } from './body-days.ts';
import { eventPeriod } from './event-period.ts';
import { idMarginMs, uuidAtTime } from './partitions.ts';

export interface SkippedSelection {
  organizationId: Uuid;
  webhookId: Uuid;
  /** Inclusive. */
  since: Date;
  /** Exclusive. */
  until: Date | undefined;
  types: readonly EventType[];
}

export const daysOfSkipped = ({ since, until }: SkippedSelection): BodyDays =>
  daysBetween(since.getTime() - idMarginMs, (until?.getTime() ?? Date.now()) + idMarginMs);

/** A delivery is written after its event. This margin covers an adjustment of the database's clock meanwhile. */
const clockMargin = sql`interval '1 minute'`;

/**
 * Selects events without a delivery to the webhook, the oldest first. They were accepted since the webhook was created,
 * are fanned out, have a stored body and are not about the webhook itself. Subtracts the events with deliveries as a
 * whole set, because a lookup for each event takes ten times as long.
 */
export function skippedEvents(selection: SkippedSelection, limit: number): RawBuilder<unknown> {
  const { organizationId, webhookId, since, until, types } = selection;
  const latest = until === undefined ? null : uuidAtTime(until.getTime() + idMarginMs);
  const none = (found: RawBuilder<unknown>) => sql`(select true from ${found} limit 1) is null`;
  return sql`
      select s.id, s.type from (
        select id, type from events
        where organization_id = ${organizationId} and type = any (${types}::text[]) and not test and erased_at is null
          and created_at >= (select created_at from webhooks where id = ${webhookId})
          and id >= ${uuidAtTime(since.getTime() - idMarginMs)}::uuid and ${sql.join(eventPeriod({ since, until }), sql` and `)}
        except
        select event_id, event_type from deliveries
        where webhook_id = ${webhookId} and status = any (${deliveryStatuses}::text[])
          and created_at >= ${since}::timestamptz - ${clockMargin} and (${latest}::uuid is null or id <= ${latest}::uuid)
        offset 0
      ) s
      where ${none(sql`outbox o where o.event_id = s.id`)} and ${none(sql`parked_events o where o.event_id = s.id`)}
        and ${none(sql`operational_events o where o.event_id = s.id and o.about = ${webhookId}`)}
        and (select true from event_bodies b where b.event_id = s.id and ${daysOfSkipped(selection).within(sql`b.event_id`)} limit 1)
      order by s.id limit ${limit}`;
}
