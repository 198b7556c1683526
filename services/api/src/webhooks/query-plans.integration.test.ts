import type { Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openQueryPlans, type QueryPlans, rowsRead, wholeTablesRead } from '../testing/query-plan.ts';
import { listCauses, readHealth } from './health-queries.ts';
import { listStatistics } from './statistics-queries.ts';
import { endOfMinute, spansOf } from './time-spans.ts';

const hourMs = 3_600_000;
const until = endOfMinute(Date.now());
const spans = spansOf(until - 24 * hourMs, until);
const lastHour = spansOf(until - hourMs, until);
const days = 60;

let db: Database;
let close: () => Promise<void>;
let plans: QueryPlans;
let organizationId: string;
let webhookId: string;
let manyIds: string[];

/** The counts of one webhook and its organization among others: an attempt in each hour of some weeks. */
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  plans = openQueryPlans(database.url);
  const stranger = await insertOrganization(db);
  organizationId = await insertOrganization(db);
  webhookId = await insertWebhook(db, { organizationId });
  const made = await sql<{ id: string }>`insert into webhooks (id, organization_id, url, event_patterns, secret_sealed)
    select gen_random_uuid(), ${stranger}, 'https://example.com', '{}', 'x' from generate_series(1, 50) returning id`.execute(
    db,
  );
  manyIds = made.rows.map(({ id }) => id);
  await sql`
    insert into webhook_counts (webhook_id, level, start, event_type, error, status_code, buckets, counts, last_at)
    select w.id, level, date_trunc(level, ${new Date(until)}::timestamptz - make_interval(hours => n), 'UTC') as start,
      'batch.failed', '', 0, '{5,69}', '{1,1}', now()
    from (select id from webhooks union all select id from organizations) w cross join unnest(array['minute', 'hour', 'day']) as level
    cross join generate_series(1, ${days * 24}::int) n on conflict do nothing`.execute(db);
  await sql`
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    select gen_random_uuid(), w.id, w.organization_id, gen_random_uuid(), 'batch.failed', now(), 10
    from webhooks w cross join generate_series(1, 100)`.execute(db);
  await sql`vacuum analyze`.execute(db);
});
afterAll(async () => {
  await plans.close();
  await close();
});

const tables = /^(webhook_counts|pending_deliveries|deliveries|webhook_health|audit_log)/;
const counts = /^webhook_counts/;

it('statistics read the rows of their period, webhooks and level alone', async () => {
  for (const groupBy of [undefined, 'webhook', 'event_type', 'error'] as const) {
    const ask = { spans: spansOf(until - 30 * 24 * hourMs, until), granularity: 'day', groupBy } as const;
    const plan = await plans.of((handle) => listStatistics(handle, organizationId, { ...ask, webhookId: undefined }));
    expect(wholeTablesRead(plan, tables)).toEqual([]);
    // 29 or 30 days, and at most 24 hours and 2 × 59 minutes at the borders.
    expect(rowsRead(plan, counts)).toBeLessThan(200);
  }
});

it('the health of a webhook reads its own rows alone, and so do the causes', async () => {
  const ids = [webhookId];
  for (const ask of [
    (handle: Database) => readHealth(handle, ids, lastHour),
    (handle: Database) => listCauses(handle, webhookId, spans),
  ]) {
    const plan = await plans.of(ask);
    expect(wholeTablesRead(plan, tables)).toEqual([]);
    expect(rowsRead(plan, counts)).toBeLessThan(300);
    expect(rowsRead(plan, /^pending_deliveries/)).toBeLessThanOrEqual(100);
  }
});

it('the health of many webhooks reads their last hour and the newest of their days alone', async () => {
  const plan = await plans.of((handle) => readHealth(handle, manyIds, lastHour));
  expect(wholeTablesRead(plan, counts)).toEqual([]);
  // An hour or a minute that has counts, and a day.
  expect(rowsRead(plan, counts)).toBeLessThan(5 * manyIds.length);
});
