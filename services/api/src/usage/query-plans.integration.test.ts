import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openQueryPlans, type QueryPlans, rowsRead, wholeTablesRead } from '../testing/query-plan.ts';
import { hourMs, startOfHour } from './hours.ts';
import { listUsage, type UsageQuestion } from './queries.ts';
import { addSpan } from './rollup-queries.ts';

const threeYearsMs = 3 * 365 * 24 * hourMs;
const now = startOfHour(Date.now());

let db: Database;
let close: () => Promise<void>;
let plans: QueryPlans;
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  plans = openQueryPlans(database.url);
});
afterAll(async () => {
  await plans.close();
  await close();
});

describe('the usage of three years', () => {
  const organizationId = newUuid();
  /** Every hour of one organization, with two areas, and of twelve others. */
  beforeAll(async () => {
    const hours = sql`select make_interval(hours => h) as ago from generate_series(1, ${threeYearsMs / hourMs}::int) h`;
    await sql`insert into usage_requests
      select ${organizationId}, ${new Date(now)}::timestamptz - ago, ${newUuid()}, area, 1, 0, 2, 3
      from (${hours}) h, unnest(array['me', 'webhooks']) as area`.execute(db);
    await sql`insert into usage_ledger select ${organizationId}, ${new Date(now)}::timestamptz - ago, 1, 2, 3 from (${hours}) h`.execute(
      db,
    );
    const others = sql`select o.id, ${new Date(now)}::timestamptz - ago as hour
      from (select gen_random_uuid() as id from generate_series(1, 12)) o, (${hours}) h`;
    await sql`insert into usage_requests select id, hour, id, 'me', 1, 0, 2, 3 from (${others}) o`.execute(db);
    await sql`insert into usage_ledger select id, hour, 1, 2, 3 from (${others}) o`.execute(db);
    await sql`update usage_progress set counted_until = ${new Date(now)}`.execute(db);
    await sql`analyze usage_requests, usage_ledger`.execute(db);
  });

  const tables = /^usage_(requests|ledger)$/;
  const question: Omit<UsageQuestion, 'since'> = {
    until: new Date(now),
    granularity: 'day',
    groupBy: undefined,
    limit: 10_001,
  };

  it.each([
    ['an hour', hourMs, 'hour'],
    ['a day', 24 * hourMs, 'hour'],
    ['a month', 30 * 24 * hourMs, 'day'],
    ['a thousand days', 1_000 * 24 * hourMs, 'day'],
  ] as const)('is read by index, and %s of it reads no other hours', async (_name, lengthMs, granularity) => {
    for (const groupBy of [undefined, 'key', 'area'] as const) {
      const asked = { ...question, since: new Date(now - lengthMs), granularity, groupBy };
      const plan = await plans.of((recorded) => listUsage(recorded, organizationId, asked));
      expect(wholeTablesRead(plan, tables)).toEqual([]);
      expect(rowsRead(plan, tables)).toBe((3 * lengthMs) / hourMs);
    }
  });
});

it('an hour is counted by index, whatever the other hours of the ledger hold', async () => {
  const organizationId = await insertOrganization(db);
  const webhookId = await insertWebhook(db, { organizationId });
  // A row each second of 12 hours; every twentieth delivery failed, and every hundredth took long.
  await sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      created_at, completed_at, delivered_by)
    select (ms || '8000' || '8' || lpad(to_hex(n), 15, '0'))::uuid, ${organizationId}, ${webhookId},
      (ms || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid, 'batch.failed',
      case when n % 20 = 7 then 'failed' else 'succeeded' end, 1, 10, created_at,
      created_at + make_interval(mins => case when n % 100 = 1 then 20 else 0 end),
      case when n % 20 <> 7 then (ms || '7001' || '8' || lpad(to_hex(n), 15, '0'))::uuid end
    from generate_series(1, 43200) n
    cross join lateral (select ${new Date(now)}::timestamptz - make_interval(secs => n) as created_at) t
    cross join lateral (select lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') as ms) i`.execute(
    db,
  );
  await sql`insert into events (id, organization_id, type, created_at)
    select event_id, organization_id, event_type, created_at from deliveries`.execute(db);
  await sql`insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, webhook_version,
      recorded_at)
    select id, event_id, 1, 0, false, created_at, 5, 1, created_at from deliveries
    where status = 'failed' order by created_at`.execute(db);
  for (const table of ['deliveries', 'attempts', 'events'] as const)
    await sql`vacuum analyze ${sql.table(table)}`.execute(db);
  const span = { from: new Date(now - 6 * hourMs), until: new Date(now - 5 * hourMs) };
  const plan = await plans.of((recorded) => addSpan(recorded, span));
  expect(wholeTablesRead(plan, /^(deliveries|attempts|events)/)).toEqual([]);
  // Twice for the margin around ids, and deliveries once to be counted and once for the attempts that delivered.
  expect(rowsRead(plan, /^events/)).toBeLessThan(2 * 3_600);
  expect(rowsRead(plan, /^deliveries/)).toBeLessThan(3 * 3_600);
  const { rows } = await sql`select events, deliveries, attempts from usage_ledger
    where organization_id = ${organizationId} and hour = ${span.from}`.execute(db);
  expect(rows).toEqual([{ events: 7_200, deliveries: 7_200, attempts: 7_200 }]);
});
