-- In the ledger's database, so that one transaction holds our rows and the event; in a schema of our own.
-- Of several processes that start at once, one creates them and the others wait: "if not exists" alone can fail then.
select pg_advisory_xact_lock(hashtext('consultations'));
create schema if not exists consultations;

create table if not exists consultations.work (
  id text primary key,
  organization_id text not null,
  kind text not null check (kind in ('consultation', 'batch')),
  items json not null,
  status text not null default 'running',
  idempotency_key text,
  -- X-Request-Id of the request that began it: the attempts for its event have it in their log lines.
  request_id text,
  created_at timestamptz not null default now(),
  ends_at timestamptz not null,
  ended_at timestamptz,
  unique (organization_id, idempotency_key)
);

create index if not exists work_running on consultations.work (ends_at) where status = 'running';
create index if not exists work_newest on consultations.work (organization_id, kind, id);
