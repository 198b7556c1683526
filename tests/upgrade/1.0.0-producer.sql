-- What the library of version 1.0.0 sends to PostgreSQL for an internal service, with the rights that its page gives.
-- Internal services upgrade whenever their owners want. Never change these statements.

-- rights
grant select on organizations to producer;
grant select, insert on events, event_keys, outbox to producer;
grant insert on event_bodies to producer;

-- organizations
select x.id from unnest($1::uuid[]) as x(id)
where not exists (select from organizations o where o.id = x.id) order by x.id;

-- write
with input as materialized (
  select * from unnest(
    $1::uuid[],
    $2::uuid[],
    $3::text[],
    $4::text[],
    $5::timestamptz[],
    $6::text[], $7::text[],
    $8::text[]
  ) with ordinality as x(id, organization_id, type, body, occurred_at, key, request_id, traceparent, nth)
), keyed as (
  insert into event_keys (organization_id, key, event_id, event_type)
  select organization_id, key, id, type from input where key is not null order by organization_id, key, nth
  on conflict do nothing returning event_id
), written as (
  insert into events (id, organization_id, type, occurred_at, request_id, traceparent, position)
  select id, organization_id, type, occurred_at, request_id, traceparent, event_position(organization_id) from input
  where key is null or id in (select event_id from keyed) order by id
  on conflict do nothing returning id, organization_id
), bodies as (
  insert into event_bodies (event_id, body)
  select id, body from input where id in (select id from written) order by id
), waiting as (
  insert into outbox (event_id, organization_id) select id, organization_id from written order by id
)
select id from written;

-- find
select k.organization_id, k.key, k.event_id, k.event_type
from unnest($1::uuid[], $2::text[])
  as x(organization_id, key)
join event_keys k on k.organization_id = x.organization_id and k.key = x.key;
