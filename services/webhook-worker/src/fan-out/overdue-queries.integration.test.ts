import type { Database } from '@enterprise-api/shared/ledger';
import { insertEvents, insertOrganization, insertWebhook, openTestDatabase, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { emitEvents, plenty } from '../testing/ledger.ts';
import { fanOutOverdueEvents, type OutboxPage } from './overdue-queries.ts';

const settings = { leaseMs: 45_000, maxAttempts: 10 };
const overdue: OutboxPage = { cursor: null, limit: 100, olderThanMs: 2_000, from: null };

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

const emit = (count = 1, values: Parameters<typeof emitEvents>[3] = {}) =>
  emitEvents(db, organizationId, count, values);

const outboxSize = async () =>
  (await db.selectFrom('outbox').select('event_id').where('organization_id', '=', organizationId).execute()).length;

describe('the relay', () => {
  it('fans out an event whose transaction was long, after events that came later', async () => {
    await insertWebhook(db, { organizationId });
    await sql`update webhooks set created_at = clock_timestamp() - interval '1 hour'
      where organization_id = ${organizationId}`.execute(db);
    const makeOverdue = (trx: Database) =>
      sql`update outbox set created_at = created_at - interval '3 seconds'
        where organization_id = ${organizationId}`.execute(trx);
    await db.transaction().execute(async (long) => {
      await insertEvents(long, [testEvent(organizationId)]);
      await makeOverdue(long);
      await emit(2);
      await makeOverdue(db);
      expect(await fanOutOverdueEvents(db, plenty, settings, overdue)).toMatchObject({ events: 2 });
    });
    expect(await fanOutOverdueEvents(db, plenty, settings, overdue)).toMatchObject({ events: 1, deliveries: 1 });
  });

  it('fans out only events whose job is late', async () => {
    await insertWebhook(db, { organizationId });
    await emit(2);
    expect((await fanOutOverdueEvents(db, plenty, settings, overdue)).events).toBe(0);
    // Both the events and the webhook grow older: a webhook made after an event does not get it.
    await sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'
      where organization_id = ${organizationId}`.execute(db);
    await sql`update webhooks set created_at = clock_timestamp() - interval '1 hour'
      where organization_id = ${organizationId}`.execute(db);
    expect(await fanOutOverdueEvents(db, plenty, settings, overdue)).toMatchObject({ events: 2, deliveries: 2 });
    expect(await outboxSize()).toBe(0);
  });

  it('fans out organizations in turn: one with very many events waiting delays no other', async () => {
    await sql`truncate outbox`.execute(db);
    const crowded = organizationId;
    await emit(300);
    const others: string[] = [];
    for (let count = 0; count < 3; count++) {
      organizationId = await insertOrganization(db);
      others.push(organizationId);
      await emit(2);
    }
    await sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'`.execute(db);
    const waiting = async (id: string) =>
      (await db.selectFrom('outbox').select('event_id').where('organization_id', '=', id).execute()).length;
    expect(await fanOutOverdueEvents(db, plenty, settings, overdue)).toMatchObject({ events: 31, cursor: null });
    expect(await Promise.all([crowded, ...others].map(waiting))).toEqual([275, 0, 0, 0]);
    // The others are done: their share is its own again.
    expect(await fanOutOverdueEvents(db, plenty, settings, overdue)).toMatchObject({ events: 100 });
  });

  it('fans out from more organizations than it visits in one run by going on behind the last', async () => {
    await sql`truncate outbox`.execute(db);
    for (let count = 0; count < 105; count++) {
      organizationId = await insertOrganization(db);
      await emit();
    }
    await sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'`.execute(db);
    const first = await fanOutOverdueEvents(db, plenty, settings, overdue);
    expect(first).toMatchObject({ events: 100, cursor: expect.any(String) });
    const second = await fanOutOverdueEvents(db, plenty, settings, { ...overdue, cursor: first.cursor });
    expect(second).toMatchObject({ events: 5, cursor: null });
  });

  it('fans out no more than its limit, and goes on behind the last organization that got any', async () => {
    await sql`truncate outbox`.execute(db);
    const organizations = [organizationId, await insertOrganization(db), await insertOrganization(db)].sort();
    for (const id of organizations) {
      organizationId = id;
      await emit(4);
    }
    const waiting = async () => {
      const rows = await db.selectFrom('outbox').select('organization_id').execute();
      return organizations.map((id) => rows.filter((row) => row.organization_id === id).length);
    };
    const page = { ...overdue, limit: 2, olderThanMs: 0 };
    const first = await fanOutOverdueEvents(db, plenty, settings, page);
    expect(first).toMatchObject({ events: 2, cursor: organizations[1] });
    expect(await waiting()).toEqual([3, 3, 4]);
    const second = await fanOutOverdueEvents(db, plenty, settings, { ...page, cursor: first.cursor });
    // One each, as those before it had.
    expect(second).toMatchObject({ events: 1, cursor: null });
    expect(await waiting()).toEqual([3, 3, 3]);
  });
});
