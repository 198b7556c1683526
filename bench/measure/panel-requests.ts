import type { Database } from '@enterprise-api/shared/ledger';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** A request below `/console/api/{org}`. */
export interface PanelRequest {
  method?: 'GET' | 'POST';
  path: string;
  body?: object;
  /** Asked for with the session of the owner's staff: each body that it reads is an entry of the audit log. */
  isByStaff?: true;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const unitMs = { minute: 60_000, hour: hourMs, day: dayMs };
const ranges = {
  '1h': [hourMs, 'minute'],
  '6h': [6 * hourMs, 'minute'],
  '24h': [dayMs, 'hour'],
  '7d': [7 * dayMs, 'hour'],
  '30d': [30 * dayMs, 'day'],
} as const;
const types = [
  'consultation.completed',
  'consultation.failed',
  'batch.completed',
  'batch.failed',
  'batch.partial_failure',
];
const statuses = ['pending', 'succeeded', 'failed', 'canceled'];
const variants = 100;

/** What the console's pages ask for, with parameters that vary. Pages behind the first begin at 100 times of 80 days. */
export async function panelRequests(db: Database, organizationId: string): Promise<Record<string, PanelRequest[]>> {
  const ids = async (prefix: string, table: string, where = sql`true`) => {
    const { rows } = await sql<{ id: string }>`select id from ${sql.table(table)}
      where organization_id = ${organizationId} and ${where} order by md5(id::text) limit ${variants}`.execute(db);
    return rows.map(({ id }) => toPublicId(prefix, id));
  };
  const webhooks = await ids('whk', 'webhooks');
  const { rows: ofTypes } = await sql<{ id: string; type: string }>`
    select id, event_patterns[1] as type from webhooks where organization_id = ${organizationId}`.execute(db);
  const events = await ids('evt', 'events');
  const deliveries = await ids(
    'dlv',
    'deliveries',
    sql`status in ('succeeded', 'failed') and created_at > now() - interval '20 days'`,
  );
  const replays = await ids('rpl', 'replays');
  const subjects = Array.from({ length: variants }, (_, index) => `con_${index * 97}`);
  const times = Array.from({ length: variants }, (_, index) => Date.now() - index * 0.8 * dayMs);
  const of = <Value>(values: readonly Value[], path: (value: Value) => string): PanelRequest[] =>
    values.map((value) => ({ path: path(value) }));
  const list = '/v1/webhooks/deliveries?limit=50';
  const period = (at: number) => `&since=${iso(at - dayMs)}&until=${iso(at)}`;
  const replay = (since: number, more: object): PanelRequest[] =>
    webhooks.map((id) => ({
      method: 'POST',
      path: `/v1/webhooks/${id}/replay`,
      body: { since: iso(since), dry_run: true, ...more },
    }));
  const statistics = Object.entries(ranges).flatMap(([name, [lengthMs, level]]) => {
    const end = Math.ceil(Date.now() / unitMs[level]) * unitMs[level];
    const path = `/v1/webhooks/statistics?since=${iso(end - lengthMs)}&until=${iso(end)}&granularity=${level}`;
    return [
      [`statistics ${name}`, of([0], () => path)],
      [`statistics of a webhook ${name}`, of(webhooks, (id) => `${path}&webhook_id=${id}`)],
    ];
  });
  const byType = (pick: (type: string) => string | undefined) =>
    ofTypes.flatMap(({ id, type }) => {
      const path = `${list}&webhook_id=${toPublicId('whk', id)}&event_type=${pick(type)}`;
      return of(statuses, (status) => `${path}&status=${status}`);
    });
  return {
    session: of([0], () => '/session'),
    'event types': of([0], () => '/v1/webhooks/event-types?limit=100'),
    webhooks: of([0], () => '/v1/webhooks?limit=100'),
    webhook: of(webhooks, (id) => `/v1/webhooks/${id}`),
    'health of all': of([0], () => '/v1/webhooks/health?limit=100'),
    health: of(webhooks, (id) => `/v1/webhooks/${id}/health`),
    ...Object.fromEntries(statistics),
    'statistics by webhook': of([0], () => {
      const end = Math.ceil(Date.now() / hourMs) * hourMs;
      return `/v1/webhooks/statistics?since=${iso(end - dayMs)}&until=${iso(end)}&granularity=hour&group_by=webhook`;
    }),
    'statistics by webhook, of a day that ends now': of(
      [0],
      () => '/v1/webhooks/statistics?granularity=hour&group_by=webhook',
    ),
    'deliveries (live)': of([0], () => list),
    'deliveries of a webhook': of(webhooks, (id) => `${list}&webhook_id=${id}`),
    'deliveries by status': of(statuses, (status) => `${list}&status=${status}`),
    'deliveries by type': of(types, (type) => `${list}&event_type=${type}`),
    'deliveries by webhook, status, type': byType((type) => type),
    'deliveries by webhook, status, a type it never gets': byType(
      (type) => types[(types.indexOf(type) + 1) % types.length],
    ),
    'deliveries by subject': of(subjects, (subject) => `${list}&subject=${subject}`),
    'deliveries by subject, status': of(subjects, (subject) => `${list}&subject=${subject}&status=failed`),
    'deliveries of an event': of(events, (id) => `${list}&event_id=${id}`),
    'deliveries of a day': of(times, (at) => list + period(at)),
    'deliveries of a day by status': of(times, (at) => `${list}&status=failed${period(at)}`),
    'deliveries until': of(times, (at) => `${list}&until=${iso(at)}`),
    tests: of([0], () => '/v1/webhooks/deliveries?event_type=webhook.test&limit=20'),
    delivery: of(deliveries, (id) => `/v1/webhooks/deliveries/${id}`),
    'delivery, by staff': deliveries.map((id) => ({ path: `/v1/webhooks/deliveries/${id}`, isByStaff: true })),
    events: of([0], () => '/v1/events?limit=50'),
    'events by type': of(types, (type) => `/v1/events?limit=50&type=${type}`),
    'events by subject': of(subjects, (subject) => `/v1/events?limit=50&subject=${subject}`),
    'events of a day': of(times, (at) => `/v1/events?limit=50${period(at)}`),
    'events until': of(times, (at) => `/v1/events?limit=50&until=${iso(at)}`),
    event: of(events, (id) => `/v1/events/${id}`),
    explain: of(events, (id) => `/v1/events/${id}/explain`),
    'replays of a webhook': of(webhooks, (id) => `/v1/webhooks/replays?webhook_id=${id}&limit=10`),
    replay: of(replays, (id) => `/v1/webhooks/replays/${id}`),
    'preview of a day': replay(Date.now() - dayMs, {}),
    'preview of a day, every status': replay(Date.now() - dayMs, { status: [...statuses, 'skipped'] }),
    'preview of 30 days': replay(Date.now() - 30 * dayMs, {}),
    'usage by day': of([0, 1, 2], (back) => `/v1/usage?${month(back)}&granularity=day`),
    'usage by key or area': of(['key', 'area'], (group) => `/v1/usage?${month(1)}&granularity=month&group_by=${group}`),
    keys: [{ path: '/keys?limit=100', isByStaff: true }],
    'audit of 30 days': of([0], () => `/audit?since=${iso(Date.now() - 30 * dayMs)}&limit=100`),
    'audit of a webhook': of(webhooks, (id) => `/audit?object_id=${id}&limit=20`),
  };
}

const iso = (at: number) => new Date(at).toISOString();

function month(back: number): string {
  const now = new Date();
  const start = (offset: number) => iso(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1));
  return `since=${start(-back)}&until=${start(1 - back)}`;
}
