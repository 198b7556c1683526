import { type Kysely, sql } from 'kysely';

/**
 * Creates the table and the functions for the service's own events. PostgreSQL writes them, so that the statement that
 * causes an event can write it. `about`: the webhook that must not get the event; in an operator's copy, the
 * organization.
 */
export async function createOperationalEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table operational_events (event_id uuid primary key, about uuid not null);
    create index operational_events_about on operational_events (about)`.execute(db);
  await createFormats(db);
  await createEventFunction(db);
  await createRecoveryFunction(db);
}

async function createFormats(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function rfc3339(moment timestamptz) returns text language sql stable parallel safe
    return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
    -- toPublicId computes the same id.
    create function public_id(prefix text, id uuid) returns text language sql immutable parallel safe
    return prefix || '_' || (
      select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from nth * 5 + 1 for 5)::bit(5)::int + 1, 1), '' order by nth)
      from (select B'00' || ('x' || replace(id::text, '-', ''))::bit(128) as bits) b, generate_series(0, 25) nth);
    -- The id makes an event exist once. No producer's id contains a space.
    create function operational_key(organization uuid, kind text, object uuid, transition text) returns text
    language sql immutable parallel safe
    return event_key(organization, kind || ' ' || object || ' ' || transition)`.execute(db);
}

/** Writes an event about a webhook, an API key or a replay, and a copy for each operator, unless they exist. */
async function createEventFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function operational_event(organization uuid, kind text, object uuid, transition text, facts jsonb) returns void
    language plpgsql as $$
    declare
      receiver record;
      event uuid;
      is_copy boolean;
      moment timestamptz := clock_timestamp();
    begin
      for receiver in
        select o.id, source.name, source.external_id from organizations source join organizations o
          on o.id = source.id or (o.operator and o.state = 'active')
        where source.id = organization and source.state = 'active' order by o.id <> organization, o.id
      loop
        is_copy := receiver.id <> organization;
        event := (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid;
        insert into event_keys (organization_id, key, event_id, event_type)
        values (receiver.id, operational_key(receiver.id, kind, object, transition), event, kind) on conflict do nothing;
        if not found then
          exit when not is_copy;
          continue;
        end if;
        insert into events (id, organization_id, type, position)
        values (event, receiver.id, kind, event_position(receiver.id));
        insert into event_bodies (event_id, body) values (event, format(
          '{"id":"%s","type":"%s","timestamp":"%s","organization_id":"%s","data":%s}', public_id('evt', event), kind,
          rfc3339(moment), public_id('org', receiver.id),
          jsonb_build_object('organization_name', receiver.name, 'help_url', '/docs/operational-events')
            || operational_object(kind, object) || facts
            || case when is_copy then jsonb_build_object('organization_id', public_id('org', organization),
                 'external_id', receiver.external_id) else '{}' end));
        if is_copy or kind like 'webhook.%' then
          insert into operational_events (event_id, about)
          values (event, case when is_copy then organization else object end);
        end if;
        insert into outbox (event_id, organization_id) values (event, receiver.id);
      end loop;
    end $$;
    create function operational_object(kind text, object uuid) returns jsonb language sql stable
    return case
      when kind like 'webhook.%' then (
        select jsonb_build_object('webhook', jsonb_build_object(
          'id', public_id('whk', id), 'url', split_part(url, '?', 1), 'description', description))
        from webhooks where id = object)
      when kind like 'api_key.%' then (
        select jsonb_build_object('api_key', jsonb_build_object(
          'id', public_id('key', id), 'name', name, 'key_prefix', 'nwk_' || public_id))
        from api_keys where id = object)
      else '{}' end`.execute(db);
}

/**
 * Writes `webhook.recovered` unless that is already the latest event about the enabled webhook. A success ends what
 * `webhook.failing` announced, whichever URL failed. A volatile function also sees an event that was just committed.
 */
async function createRecoveryFunction(db: Kysely<unknown>): Promise<void> {
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
