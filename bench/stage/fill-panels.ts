import { attemptBuckets, type Database, dayMs, ensurePartitions, firstLagBucket } from '@enterprise-api/shared/ledger';
import { Client } from 'pg';

const days = 90;
const daysWithBodies = 30;
/** Every sixth event is of the large organization and goes to the 20 webhooks of its type, the others to one webhook. */
const eventsPerDelivery = 6 / 25;
/** Days are filled by two sessions: the machine has two cores. */
const sessions = 2;

export interface PanelOwner {
  organizationId: string;
  otherIds: readonly string[];
}

/** Fills a ledger with the history of 90 days, as the services would have written it. The caller has made the webhooks. */
export async function fillPanels(db: Database, url: string, rows: number, owner: PanelOwner): Promise<void> {
  const now = Date.now();
  for (let back = 0; back < days; back += daysWithBodies / 2) {
    await ensurePartitions(db, new Date(now - back * dayMs), back === 0 || back >= daysWithBodies ? 0 : daysWithBodies);
  }
  await using admin = await connect(url);
  // A crash loses the ledger anyway. The server refuses to be measured like this: see `requireDurability`.
  for (const setting of ['fsync', 'full_page_writes']) await admin.query(`alter system set ${setting} = off`);
  await admin.query(`alter system set max_wal_size = '8GB'`);
  await admin.query('select pg_reload_conf()');
  // The API would count the events of each day meanwhile.
  await admin.query('update usage_progress set counted_until = now()');
  await admin.query(prepareWebhooks);
  const left = Array.from({ length: days }, (_, back) => back);
  const fill = async () => {
    await using client = await connect(url);
    await client.query(`set work_mem = '128MB'; ${webhooksOfSession}`);
    for (let back = left.pop(); back !== undefined; back = left.pop()) {
      const from = Math.floor(now / dayMs - back) * dayMs;
      const until = Math.min(from + dayMs, now);
      const events = Math.ceil(((rows * eventsPerDelivery) / days) * ((until - from) / dayMs));
      const { organizationId, otherIds } = owner;
      await client.query('begin');
      await client.query(makeEvents, [days - back, events, new Date(from), new Date(until), organizationId, otherIds]);
      for (const statement of dayOf(back < daysWithBodies)) await client.query(statement);
      await client.query('commit');
    }
  };
  await Promise.all(Array.from({ length: sessions }, fill));
  await admin.query(finish);
  for (const statement of [fillUsage, fillAudit, fillReplays]) await admin.query(statement);
  await admin.query('vacuum analyze');
  await admin.query('alter system reset all');
  await admin.query('select pg_reload_conf()');
  await admin.query('checkpoint');
}

async function connect(url: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`set timezone = 'UTC'`);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Webhooks and their versions are older than every event. Each webhook of the large organization gets one type. */
const prepareWebhooks = `
  update webhooks w set created_at = now() - interval '100 days', updated_at = now() - interval '100 days',
    event_patterns = case when n.of > 1 then array[(array['consultation.completed', 'batch.completed',
      'batch.partial_failure', 'consultation.failed', 'batch.failed'])[1 + n.n % 5]] else event_patterns end
  from (select id, row_number() over w as n, count(*) over w as of from webhooks window w as (partition by organization_id)) n
  where w.id = n.id;
  update webhook_versions set change_began_at = now() - interval '100 days', change_ended_at = now() - interval '100 days'`;

/** Five of the 100 webhooks have been down for three days. */
const webhooksOfSession = `
  create temp table w as select id, organization_id, event_patterns[1] as pattern, n - 1 as n,
    of > 1 and n <= 5 as is_down
  from (select *, (row_number() over (partition by organization_id order by id))::int as n,
    count(*) over (partition by organization_id) as of from webhooks) w;
  analyze w`;

/** A tenth of the events has a subject; some subjects have hundreds of events. Types are as frequent as in production. */
const makeEvents = `
  create temp table e on commit drop as
  select n, at, case when is_ours then $5::uuid else ($6::uuid[])[1 + n % array_length($6::uuid[], 1)] end as organization_id,
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid as id,
    (array['consultation.completed', 'batch.completed', 'batch.partial_failure', 'consultation.failed', 'batch.failed'])
      [1 + width_bucket(('x' || substr(hash, 20, 6))::bit(24)::int % 100, array[60, 85, 93, 98])] as type,
    case when ('x' || substr(hash, 26, 4))::bit(16)::int % 10 = 0
      then 'con_' || floor(10000 * power(('x' || substr(hash, 12, 6))::bit(24)::int / 16777216.0, 2)) end as subject
  from (select $1::bigint * 10000000 + i as n, i % 6 = 0 as is_ours, md5(($1::bigint * 10000000 + i)::text) as hash,
      $3::timestamptz + ($4::timestamptz - $3::timestamptz) * (i::float8 / ($2::int + 1)) as at
    from generate_series(1, $2::int) i) numbered`;

/** The failures of a delivery by chance: 1 to 5 % of a webhook's fail for good, 2 % succeed at the second attempt. */
const makeDeliveries = `
  create temp table d on commit drop as
  select delivery_id(e.id, w.id) as id, e.n, e.id as event_id, e.organization_id, w.id as webhook_id, e.type, e.at,
    case when status = 'pending' then 3 when status = 'succeeded' then (chance >= 1000)::int else 4 end as failures, status,
    20 + chance % 400 as duration, (array['http_error', 'timeout', 'connection_refused', 'http_error', 'tls_failed'])[1 + w.n % 5] as error,
    case when w.n % 5 in (0, 3) then (array[500, 502, 503])[1 + e.n % 3] end as code
  from e join w on w.organization_id = e.organization_id and w.pattern in (e.type, '*')
  cross join lateral (select (hashint8(e.n * 101 + w.n) & 1023) as chance) c
  cross join lateral (select case when w.is_down and at > now() - interval '3 days' then 'pending'
    when chance < 2 * (1 + w.n % 5) then 'canceled' when chance < 10 * (1 + w.n % 5) then 'failed' else 'succeeded' end as status) s
  order by e.n`;

const startOf = `at + interval '25 milliseconds'`;
const attemptId = `(left(event_id::text, 15) || right(md5(id::text || k), 3) || '-8' || substr(md5(id::text || k), 1, 3) || '-' || substr(md5(id::text || k), 4, 12))::uuid`;

const dayOf = (hasBodies: boolean) => [
  'insert into events (id, organization_id, type, created_at, position) select id, organization_id, type, at, n from e',
  `insert into event_subjects select id, organization_id, subject from e where subject is not null`,
  ...(hasBodies
    ? [
        `insert into event_bodies select id, json_build_object('data', json_build_object('consultation_id', coalesce(subject, 'con'), 'text', repeat(id::text, 10))) from e`,
      ]
    : []),
  makeDeliveries,
  `insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
    last_status_code, last_error, last_duration_ms, created_at, completed_at, canceled_reason, delivered_by,
    delivered_version, excerpt, first_byte_ms)
  select id, organization_id, webhook_id, event_id, type, status, failures + (status = 'succeeded')::int, case status when 'pending' then 10 else 4 end,
    case when status = 'succeeded' then 200 else code end, case when status <> 'succeeded' then error end, duration,
    at + interval '20 milliseconds', case when status <> 'pending' then at + interval '50 milliseconds' + failures * interval '1 minute' end,
    case when status = 'canceled' then 'webhook_disabled' end,
    case when status = 'succeeded' then (select ${attemptId} from (values (0)) k (k)) end,
    case when status = 'succeeded' then 1 end, case when status = 'succeeded' then 'ok' end, duration
  from d`,
  `insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, status_code, error,
    error_message, webhook_version, excerpt, recorded_at, remote_address, response_headers)
  select id, ${attemptId}, k, 0, false, ${startOf} + (k - 1) * interval '1 minute', duration, code, error, 'The receiver did not answer.', 1,
    'unavailable', ${startOf} + (k - 1) * interval '1 minute', '127.1.0.1', '{"content-type": "text/plain"}'
  from d cross join generate_series(1, failures) k where failures > 0`,
  `insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, attempt_count, max_attempts)
  select id, webhook_id, organization_id, event_id, type, now() + interval '5 hours', 3, 10 from d where status = 'pending'`,
  countDay,
  `insert into usage_ledger select organization_id, date_trunc('hour', at), count(distinct event_id), count(*), sum(failures + (status = 'succeeded')::int)
  from d group by 1, 2`,
];

const starts = `'{${attemptBuckets
  .slice(0, -1)
  .map(({ until }) => until + 1)
  .join(',')}}'::int[]`;

/** As the worker counts attempts; minutes only of 31 days, which is what the console reads. An attempt after midnight may be left out: its row may exist already. */
const countDay = `
  with cells as (
    select webhook_id, organization_id, date_trunc('minute', ${startOf} + k * interval '1 minute') as minute, type,
      case when k < failures then error else '' end as error, case when k < failures then coalesce(code, 0) else 0 end as code,
      width_bucket(duration, ${starts}) as duration, case when k = 0 then ${firstLagBucket} + width_bucket(25, ${starts}) end as lag,
      ${startOf} + k * interval '1 minute' as at, case when k < failures then id::text end as failed
    from d cross join lateral generate_series(0, failures - (status <> 'succeeded')::int) k
  ), kinds as (
    select c.id as webhook_id, level, date_trunc(level, minute) as start, type, error, code, bucket, count(*) as count, max(at) as at, max(failed) as failed
    from cells cross join lateral (values (webhook_id), (organization_id)) c (id)
    cross join lateral (values (duration), (lag)) b (bucket)
    cross join unnest(array['minute', 'hour', 'day']) as level
    where (level <> 'minute' or at > now() - interval '31 days') and bucket is not null group by 1, 2, 3, 4, 5, 6, 7
  )
  insert into webhook_counts
  select webhook_id, level, start, type, error, code, array_agg(bucket)::smallint[], array_agg(count)::int[],
    max(at), max(failed)::uuid
  from kinds group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6 on conflict do nothing`;

const finish = `
  insert into webhook_health (webhook_id, consecutive_failures, failed_attempts, first_failure_at, open_until, openings)
  select webhook_id, 99, 999, now() - interval '3 days', now() + interval '5 minutes', 9 from (select distinct webhook_id from pending_deliveries) p;
  select setval('event_positions', (select max(position) from events))`;

/** The large organization is the one with keys. */
const fillUsage = `
  insert into usage_requests select organization_id, hour, id, area, 100, 1, 9000, 90000 from api_keys,
    generate_series(date_trunc('hour', now()) - interval '90 days', now(), '1 hour') hour, unnest(array['webhooks', 'account']) area`;

const fillAudit = `
  insert into audit_log (id, actor, action, object_type, object_id, organization_id, changed_fields, created_at)
  select gen_random_uuid(), 'internal', action, split_part(action, '.', 1), case when action = 'event.read' then gen_random_uuid() else w.id end,
    w.organization_id, '{description}', now() - i * interval '2 hours' - random() * interval '2 hours'
  from webhooks w, generate_series(0, 1000) i, unnest(array['webhook.updated', 'event.read']) action
  where organization_id in (select organization_id from api_keys)`;

const fillReplays = `
  insert into replays (id, organization_id, webhook_id, state, matched, succeeded, created_at, completed_at, delivery_ids, rounds, due_times)
  select gen_random_uuid(), w.organization_id, w.id, 'completed', 9, 9, at, at, null, null, null
  from webhooks w, generate_series(now() - interval '50 days', now(), '1 day') at`;
