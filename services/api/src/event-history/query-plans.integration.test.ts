import { subscribableEventTypeNames } from '@enterprise-api/shared/contracts';
import { type Database, ensurePartitions, startOfMonth } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openQueryPlans, type QueryPlans, relationsOf, rowsRead, wholeTablesRead } from '../testing/query-plan.ts';
import { type EventPlace, type EventQuestion, findEvent, listEvents } from './queries.ts';

/** Over a year that ends with a month, so that whatever the day no partition has few: enough that reading all of them is not the quickest way. Most are of one organization. */
const events = 36_000;
const daysMs = 24 * 60 * 60_000;

const end = startOfMonth(Date.now());
const ago = (days: number) => new Date(end - days * daysMs);

let db: Database;
let close: () => Promise<void>;
let plans: QueryPlans;
let organizationId: string;
let smallId: string;
let middle: EventPlace;
let newest: EventPlace;

beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  plans = openQueryPlans(database.url);
  organizationId = await insertOrganization(db);
  smallId = await insertOrganization(db);
  for (let day = 0; day <= 360; day += 30) await ensurePartitions(db, ago(day), 0);
  await sql`
    insert into events (id, organization_id, type, created_at, position)
    select (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
      case when n % 12 = 0 then ${smallId}::uuid else ${organizationId}::uuid end,
      case when n % 100 = 1 then 'batch.failed' else 'consultation.completed' end, created_at, n
    from generate_series(1, ${events}::int) n
    cross join lateral (select ${ago(0)}::timestamptz - (${events} + 1 - n) * interval '360 days' / ${events} as created_at) t`.execute(
    db,
  );
  await sql`insert into event_bodies select id, '{}' from events`.execute(db);
  await sql`insert into event_subjects select id, organization_id, 'con_' || (position / 100) from events`.execute(db);
  await sql`analyze events, event_subjects`.execute(db);
  const all = {
    types: subscribableEventTypeNames,
    after: null,
    maxBytes: 1_000,
    order: 'desc',
    limit: events,
  } as const;
  const rows = await listEvents(db, organizationId, all);
  [newest, middle] = [rows[0], rows[16_000]] as [EventPlace, EventPlace];
});
afterAll(async () => {
  await plans.close();
  await close();
});

const page = { types: subscribableEventTypeNames, after: null, order: 'desc', limit: 21, maxBytes: 1_000_000 } as const;
const planOf = (question: EventQuestion) => plans.of((handle) => listEvents(handle, organizationId, question));
const table = /^events/;
const subjects = /^event_subjects/;

describe('the history of events', () => {
  it('is read through an index with any filters, and reads few rows beyond those that it shows', async () => {
    for (const types of [
      subscribableEventTypeNames,
      ['batch.failed'],
      ['batch.completed'],
      ['batch.failed', 'batch.completed'],
    ] as const) {
      for (const order of ['asc', 'desc'] as const) {
        for (const after of [null, middle]) {
          for (const since of [undefined, ago(250)]) {
            for (const until of [undefined, ago(100)]) {
              for (const upTo of [undefined, newest.position - 10]) {
                const question = { ...page, types, order, after, since, until, upTo };
                const plan = await planOf(question);
                expect([question, wholeTablesRead(plan, table)]).toEqual([question, []]);
                const read = rowsRead(plan, table);
                expect([question, read < 10 * page.limit ? 'few' : read]).toEqual([question, 'few']);
              }
            }
          }
        }
      }
    }
  });

  it('of a few days reads the events of its own organization alone', async () => {
    const question = { ...page, since: ago(250), until: ago(247) };
    const plan = await plans.of((handle) => listEvents(handle, smallId, { ...question, maxBytes: 0 }));
    expect(rowsRead(plan, table)).toBeLessThan(10 * page.limit);
  });

  it.each([
    [undefined, ago(300)],
    [ago(250), ago(249)],
    [ago(250.5), ago(100)],
    [ago(2), undefined],
    [ago(400), ago(370)],
  ])('has the events of a period and no others: from %s until %s', async (since, until) => {
    const everything = { ...page, limit: events, since, until };
    const found = await listEvents(db, organizationId, { ...everything, order: 'asc' });
    const { rows } = await sql<{ id: string }>`
      select id from events where organization_id = ${organizationId}
        and created_at >= ${since ?? new Date(0)}::timestamptz and created_at < ${until ?? ago(0)}::timestamptz
      order by created_at`.execute(db);
    expect(found.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    const newestFirst = await listEvents(db, organizationId, everything);
    expect(newestFirst.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toReversed());
  });

  it('of a subject looks up its events, with any other filters', async () => {
    for (const order of ['asc', 'desc'] as const) {
      for (const after of [null, middle]) {
        for (const since of [undefined, ago(250)]) {
          for (const until of [undefined, ago(100)]) {
            const question = { ...page, order, after, since, until, subject: 'con_170', withSubject: true };
            const plan = await planOf(question);
            for (const name of [table, subjects])
              expect([question, wholeTablesRead(plan, name)]).toEqual([question, []]);
            expect(rowsRead(plan, subjects)).toBeLessThanOrEqual(200);
            expect(rowsRead(plan, table)).toBeLessThanOrEqual(102);
          }
        }
      }
    }
    const found = await listEvents(db, organizationId, { ...page, subject: 'con_170', limit: 200, maxBytes: 0 });
    expect(found.map(({ position }) => Math.floor(position / 100))).toEqual(Array(found.length).fill(170));
    expect(found.length).toBeGreaterThan(90);
  });

  it('enters the latest partitions alone to see what is newer than an event of the end', async () => {
    const plan = await planOf({ ...page, order: 'asc', after: newest, upTo: Number.MAX_SAFE_INTEGER });
    expect(relationsOf(plan, table).length).toBeGreaterThan(0);
    // The month of the event, the current one and the two that are prepared.
    expect(relationsOf(plan, table).length).toBeLessThanOrEqual(4);
  });

  it('enters the partitions of a period alone', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const plan = await planOf({ ...page, order, since: ago(250), until: ago(200) });
      expect(relationsOf(plan, table).length).toBeLessThanOrEqual(5);
    }
  });

  it('has each event once, in order, read page by page, whatever the month', async () => {
    const ids = (await listEvents(db, organizationId, { ...page, limit: events, maxBytes: 0 })).map(({ id }) => id);
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      let after: EventPlace | null = null;
      for (;;) {
        const question: EventQuestion = { ...page, order, after, limit: 2_000, maxBytes: 0 };
        const rows = await listEvents(db, organizationId, question);
        seen.push(...rows.map(({ id }) => id));
        after = rows.at(-1) ?? null;
        if (rows.length < question.limit) break;
      }
      expect(seen).toEqual(order === 'desc' ? ids : ids.toReversed());
    }
  });

  it('reads one event through an index', async () => {
    const plan = await plans.of((handle) => findEvent(handle, organizationId, middle.id, subscribableEventTypeNames));
    expect(wholeTablesRead(plan, table)).toEqual([]);
    expect(rowsRead(plan, table)).toBe(1);
  });

  it('of an organization without events reads none', async () => {
    const question = { ...page, order: 'asc', after: { position: 0, id: nilUuid } } as const;
    const plan = await plans.of((handle) => listEvents(handle, nilUuid, question));
    expect(rowsRead(plan, table)).toBe(0);
  });
});
