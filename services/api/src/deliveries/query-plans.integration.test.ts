import { type DeliveryStatus, deliveryStatuses } from '@enterprise-api/shared/contracts';
import { type Database, startOfMonth } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { alignPendingDeliveries, insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { openQueryPlans, type QueryPlans, relationsOf, rowsRead, wholeTablesRead } from '../testing/query-plan.ts';
import { type DeliveryFilter, findDelivery, findEventBody, listAttempts, listDeliveries } from './queries.ts';

/** The deliveries end in the middle of a month: whatever the day, all are in one partition. */
const end = startOfMonth(Date.now(), -1) + 14 * 24 * 3_600_000;
const ago = (hours: number) => new Date(end - hours * 3_600_000);

/** Enough that reading all of them is not the quickest way. Most are of one organization, and hardly any failed. */
const deliveries = 40_000;

let db: Database;
let close: () => Promise<void>;
let plans: QueryPlans;
let organizationId: string;
let webhookIds: string[];
let eventId: string;

beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  plans = openQueryPlans(database.url);
  organizationId = await insertOrganization(db);
  const stranger = await insertOrganization(db);
  webhookIds = [];
  for (let count = 0; count < 20; count++) webhookIds.push(await insertWebhook(db, { organizationId }));
  await fill(db, stranger);
  await alignPendingDeliveries(db, new Date(Date.now() + 3_600_000));
  await sql`
    insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, webhook_version)
    select id, id, 1, 0, false, created_at, 5, 1 from deliveries`.execute(db);
  await sql`insert into events (id, organization_id, type)
    select event_id, organization_id, event_type from deliveries`.execute(db);
  await sql`insert into event_bodies select id, '{}' from events`.execute(db);
  await sql`insert into event_subjects
    select id, organization_id, 'con_' || (row_number() over (order by id)) / 20 from events`.execute(db);
  // Enough webhooks that reading all of their health is not the quickest way either.
  await sql`insert into webhook_health (webhook_id)
    select gen_random_uuid() from generate_series(1, 5000) union all select unnest(${webhookIds}::uuid[])`.execute(db);
  for (const table of [
    'deliveries',
    'pending_deliveries',
    'attempts',
    'events',
    'event_bodies',
    'event_subjects',
    'webhook_health',
  ])
    await sql`analyze ${sql.table(table)}`.execute(db);
  const [one] = await listDeliveries(db, organizationId, { after: null, limit: 1, order: 'desc' }, {});
  if (one === undefined) throw new Error('no delivery');
  eventId = one.event_id;
});
afterAll(async () => {
  await plans.close();
  await close();
});

/**
 * Every twelfth delivery is another organization's, one in 100 is of a rare type, one webhook always fails, and one has a
 * backlog. Ids begin with their time, as in production.
 */
function fill(into: Database, stranger: string) {
  return sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      created_at, completed_at)
    select (ms || '8000' || '8' || lpad(to_hex(n), 15, '0'))::uuid,
      case when n % 12 = 0 then ${stranger}::uuid else ${organizationId}::uuid end,
      (${webhookIds}::uuid[])[1 + n % 20], (ms || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid,
      case when n % 100 = 1 then 'batch.failed' else 'consultation.completed' end,
      case n % 20 when 7 then 'failed' when 9 then 'pending' else 'succeeded' end, 1, 10, created_at,
      case when n % 20 <> 9 then now() end
    from generate_series(1, ${deliveries}::int) n
    cross join lateral (select ${ago(0)}::timestamptz - make_interval(secs => ${deliveries} - n) as created_at) t
    cross join lateral (select lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') as ms) i`.execute(
    into,
  );
}

const tables = /^(deliveries|pending_deliveries|attempts|events|event_subjects|webhook_health)/;
const deliveryTables = /^deliveries/;

const first: PageQuestion = { after: null, limit: 26, order: 'desc' };
const oldestFirst: PageQuestion = { ...first, order: 'asc' };
const someTypes = [
  undefined,
  ['consultation.completed'],
  ['batch.failed'],
  ['batch.completed'],
  ['batch.failed', 'batch.completed'],
];
const someStatuses: (DeliveryStatus[] | undefined)[] = [
  undefined,
  ...deliveryStatuses.map((status) => [status]),
  ['failed', 'canceled'],
  [...deliveryStatuses],
];

describe('the history', () => {
  const pages = (): PageQuestion[] => {
    const after = { sortKey: ago(6).toISOString(), id: newUuid() };
    return [first, oldestFirst, { ...first, after }, { ...oldestFirst, after }];
  };
  const filters = () => {
    const found: DeliveryFilter[] = [];
    const lastHour = { since: ago(1), until: ago(0.5) };
    for (const webhookId of [undefined, webhookIds[3]]) {
      for (const event of [undefined, eventId]) {
        for (const eventTypes of someTypes) {
          for (const statuses of someStatuses) {
            found.push({ webhookId, eventId: event, eventTypes, statuses });
            found.push({ webhookId, eventId: event, eventTypes, statuses, ...lastHour });
          }
        }
      }
    }
    return found;
  };

  it('is read through an index with any filters', async () => {
    for (const filter of filters()) {
      for (const page of pages()) {
        const plan = await plans.of((handle) => listDeliveries(handle, organizationId, page, filter));
        expect([filter, wholeTablesRead(plan, tables)]).toEqual([filter, []]);
      }
    }
  });

  it.each<[string, DeliveryFilter]>([
    ['nothing', {}],
    ['pending', { statuses: ['pending'] }],
    ['failed', { statuses: ['failed'] }],
    ['canceled', { statuses: ['canceled'] }],
    ['failed or canceled', { statuses: ['failed', 'canceled'] }],
    ['a rare type', { eventTypes: ['batch.failed'] }],
    ['a type without deliveries', { eventTypes: ['batch.completed'] }],
    ['two rare types that succeeded', { eventTypes: ['batch.failed', 'batch.completed'], statuses: ['succeeded'] }],
    ['until an hour ago', { until: ago(1) }],
  ])('filtered by %s reads at most ten times the rows that it shows', async (_name, filter) => {
    const plan = await plans.of((handle) => listDeliveries(handle, organizationId, first, filter));
    expect(rowsRead(plan, deliveryTables)).toBeLessThan(10 * first.limit);
  });

  it('of a subject reads its deliveries alone, with any other filters', async () => {
    for (const filter of filters().filter((each) => each.eventId === undefined)) {
      for (const page of pages()) {
        const ask = { ...filter, subject: 'con_1500' };
        const plan = await plans.of((handle) => listDeliveries(handle, organizationId, page, ask));
        expect([ask, wholeTablesRead(plan, tables)]).toEqual([ask, []]);
        expect([ask, rowsRead(plan, deliveryTables) <= 20]).toEqual([ask, true]);
      }
    }
    const found = await listDeliveries(db, organizationId, { ...first, limit: 100 }, { subject: 'con_1500' });
    expect(found.map(({ subject }) => subject)).toEqual(Array(found.length).fill('con_1500'));
    expect(found.length).toBeGreaterThan(15);
  });

  it('of 100 ids looks these up, in the partitions of their months alone, with any other filters', async () => {
    const { rows } = await sql<{ id: string }>`
      select id from deliveries where organization_id = ${organizationId} order by md5(id::text) limit 100`.execute(db);
    const ids = rows.map(({ id }) => id);
    const month = `deliveries_${new Date(end).toISOString().slice(0, 7).replace('-', '_')}`;
    for (const filter of filters().filter((each) => each.eventId === undefined)) {
      for (const page of [first, oldestFirst]) {
        const ask = { ...filter, ids };
        const plan = await plans.of((handle) => listDeliveries(handle, organizationId, page, ask));
        expect([ask, relationsOf(plan, deliveryTables).filter((name) => name !== month)]).toEqual([ask, []]);
        expect([ask, rowsRead(plan, deliveryTables) <= ids.length]).toEqual([ask, true]);
        expect([ask, wholeTablesRead(plan, tables)]).toEqual([ask, []]);
      }
    }
    const found = await listDeliveries(db, organizationId, { ...first, limit: 101 }, { ids });
    expect(found.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  });

  it('of several statuses, types or webhooks reads only the rows of its page from the table', async () => {
    await sql`vacuum deliveries`.execute(db);
    const statuses: DeliveryStatus[] = ['failed', 'canceled', 'pending'];
    const webhookId = webhookIds[7];
    for (const page of pages()) {
      for (const filter of [{}, { statuses }, { statuses, webhookId }, { webhookId }]) {
        const plan = await plans.of((handle) => listDeliveries(handle, organizationId, page, filter));
        const fromTable = plan.filter((node) => node['Node Type'] !== 'Index Only Scan');
        expect([filter, rowsRead(fromTable, deliveryTables) < 1.5 * page.limit]).toEqual([filter, true]);
      }
    }
  });

  it('of one webhook, filtered by failed, does not read failed deliveries of other webhooks', async () => {
    for (const webhookId of [webhookIds[3], webhookIds[7]]) {
      const filter: DeliveryFilter = { webhookId, statuses: ['failed'] };
      const plan = await plans.of((handle) => listDeliveries(handle, organizationId, first, filter));
      expect(rowsRead(plan, deliveryTables)).toBeLessThan(10 * first.limit);
    }
  });
});

it('a delivery, its attempts and its body are read through an index', async () => {
  const [row] = await listDeliveries(db, organizationId, first, {});
  const { id, webhook_id: webhookId, event_id: event } = row as NonNullable<typeof row>;
  for (const ask of [
    (handle: Database) => findDelivery(handle, organizationId, id),
    (handle: Database) => listAttempts(handle, { id, webhookId }),
    (handle: Database) => findEventBody(handle, organizationId, event),
  ]) {
    expect(wholeTablesRead(await plans.of(ask), tables)).toEqual([]);
  }
  expect(await findEventBody(db, organizationId, event)).toBe('{}');
});
