import { type Kysely, sql } from 'kysely';

/**
 * Writes `webhook.recovered` about an enabled webhook unless that is the latest event about it: the success ends what
 * `webhook.failing` announced, whichever URL failed. A volatile function also sees an event that was just committed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function operational_recovery(webhook uuid) returns void language plpgsql as $$
    declare
      latest record;
    begin
      select w.organization_id, o.event_id, e.type into latest
      from (select event_id from operational_events where about = webhook order by event_id desc limit 1) o
      cross join lateral (select type from events where id = o.event_id limit 1) e
      cross join lateral (select organization_id from webhooks where id = webhook and state = 'enabled' limit 1) w;
      if latest.type <> 'webhook.recovered' then
        perform operational_event(latest.organization_id, 'webhook.recovered', webhook, latest.event_id::text,
          jsonb_build_object('cause', 'succeeded', 'recovered_at', rfc3339(clock_timestamp())));
      end if;
    end $$`.execute(db);
}
