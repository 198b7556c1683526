import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import { type Database, dayMs, ensurePartitions } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { emitEvents, plenty } from '../testing/ledger.ts';
import { fanOutOverdueEvents } from './overdue-queries.ts';
import { fanOutEvents } from './queries.ts';

const settings = { leaseMs: 45_000, maxAttempts: 10 };

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  organizationId = await insertOrganization(db);
});

const subjectsOf = async (ids: readonly string[]) => {
  const rows = await db.selectFrom('event_subjects').selectAll().where('event_id', 'in', ids).execute();
  for (const row of rows) expect(row.organization_id).toBe(organizationId);
  return ids.map((id) => rows.find((row) => row.event_id === id)?.subject);
};

/** An event as an older producer may have written it. */
async function insertOld(body: string, { type = 'consultation.completed', test = false } = {}): Promise<string> {
  const id = newUuid();
  await db
    .insertInto('events')
    .values({ id, organization_id: organizationId, type, test, occurred_at: null, request_id: null, traceparent: null })
    .execute();
  await db.insertInto('event_bodies').values({ event_id: id, body }).execute();
  await db.insertInto('outbox').values({ event_id: id, organization_id: organizationId }).execute();
  return id;
}

it('the fan-out of an event notes its subject, whether or not a webhook gets it', async () => {
  const longest = '🜁'.repeat(200);
  const values = [
    { data: { consultation_id: 'con_17', batch_id: 'other' } },
    { type: 'batch.failed', data: { batch_id: longest } },
  ] as const;
  for (const hasWebhook of [false, true]) {
    if (hasWebhook) await insertWebhook(db, { organizationId });
    const ids = (await Promise.all(values.map((value) => emitEvents(db, organizationId, 1, value)))).flat();
    const result = await fanOutEvents(db, ids, plenty, settings);
    expect(result).toMatchObject({ events: 2, deliveries: hasWebhook ? 2 : 0 });
    expect(await subjectsOf(ids)).toEqual(['con_17', longest]);
  }
});

it('a test has no subject', async () => {
  const id = await insertOld('{"data":{"consultation_id":"con_17"},"test":true}', { test: true });
  expect(await fanOutEvents(db, [id], plenty, settings)).toMatchObject({ events: 1 });
  expect(await subjectsOf([id])).toEqual([undefined]);
});

it('an event that waited for days gets its subject too, from a job or from the relay', async () => {
  const at = Date.now() - 5 * dayMs;
  await ensurePartitions(db, new Date(at), 1);
  const emit = async (subject: string) => {
    const event = newEvent(testEvent(organizationId, { data: { consultation_id: subject } }), at);
    return (await writeEvents(db, [event])).map(({ id }) => id);
  };
  const ids = [...(await emit('con_1')), ...(await emit('con_2')), ...(await emit('con_3'))];
  await fanOutEvents(db, ids.slice(0, 1), plenty, settings);
  const page = { cursor: null, limit: 1, olderThanMs: 0 };
  await fanOutOverdueEvents(db, plenty, settings, { ...page, from: new Date(at) });
  await fanOutOverdueEvents(db, plenty, settings, { ...page, from: null });
  expect(await subjectsOf(ids)).toEqual(['con_1', 'con_2', 'con_3']);
});

it.each([
  'no JSON',
  '{}',
  '[]',
  '{"data":null}',
  '{"data":[1]}',
  '{"data":{"consultation_id":""}}',
  '{"data":{"consultation_id":null}}',
  `{"data":{"consultation_id":"${'x'.repeat(201)}"}}`,
  String.raw`{"data":{"consultation_id":"con_1","text":"\u0000"}}`,
  String.raw`{"data":{"consultation_id":"\ud800"}}`,
])('the body %s leaves an event without a subject and stops no fan-out', async (body) => {
  await insertWebhook(db, { organizationId });
  const [sound = ''] = await emitEvents(db, organizationId, 1);
  const ids = [await insertOld(body), sound];
  expect(await fanOutEvents(db, ids, plenty, settings)).toMatchObject({ events: 2, deliveries: 2 });
  expect(await subjectsOf(ids)).toEqual([undefined, 'con_1']);
});

it('an event without a stored body is fanned out without a subject', async () => {
  const id = await insertOld('{"data":{"consultation_id":"con_1"}}');
  await sql`delete from event_bodies where event_id = ${id}`.execute(db);
  expect(await fanOutEvents(db, [id], plenty, settings)).toMatchObject({ events: 1 });
  expect(await subjectsOf([id])).toEqual([undefined]);
});
