import { createPool, type Database, type Schema } from '@enterprise-api/shared/ledger';
import {
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  selectDeliveriesWithDueTime,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { fanOutOf } from '../testing/fan-out.ts';
import { emitEvents, plenty } from '../testing/ledger.ts';
import type { FannedOut } from './fanned-out.ts';
import { fanOutOneEvent, fewWebhooks } from './one-event-queries.ts';
import { fanOutEvents } from './queries.ts';

/** A lease lasts longer than this file takes on a busy machine. */
const settings = { leaseMs: 600_000, maxAttempts: 10 };

let db: Database;
let url: string;
let close: () => Promise<void>;
let organizationId: string;
/** Statements that were sent. */
let asked: string[];

beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  organizationId = await insertOrganization(db);
  asked = [];
});

async function subscribe(count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await insertWebhook(db, { organizationId }));
  return ids;
}
const emitOne = async () => (await emitEvents(db, organizationId, 1))[0] as string;
const rows = () =>
  selectDeliveriesWithDueTime(db)
    .where('deliveries.organization_id', '=', organizationId)
    .orderBy('deliveries.webhook_id')
    .execute();
const waits = async (eventId: string) =>
  (await db.selectFrom('outbox').select('event_id').where('event_id', '=', eventId).execute()).length === 1;

/** A database that notes what it is asked. */
function noting(): Kysely<Schema> {
  const pool = createPool({ url, applicationName: 'noting', poolSize: 1 });
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), log: ({ query }) => void asked.push(query.sql) });
}

/** What a fan-out has returned and written, without what is of its event alone. */
async function described(eventId: string, result: FannedOut | null) {
  const leases = (result?.leases ?? []).toSorted((one, other) => (one.webhook_id < other.webhook_id ? -1 : 1));
  const written = (await rows()).filter((row) => row.event_id === eventId);
  return {
    ...result,
    leases: leases.map((lease) => leaseFields.map((field) => lease[field])),
    tokens: leases.map(({ lease_token }) => typeof lease_token),
    bodies: leases.filter(({ body }) => body !== null).length,
    rows: written.map(({ id: _id, event_id: _event, created_at: _created, next_attempt_at, ...row }) => ({
      ...row,
      isDueLater: Number(next_attempt_at) - Date.now() > 0,
    })),
  };
}

const leaseFields = [
  'organization_id',
  'webhook_id',
  'event_type',
  'attempt_count',
  'max_attempts',
  'round',
  'manual',
  'webhook_version',
  'request_id',
] as const;

describe('the statement for one event', () => {
  it.each([0, 1, fewWebhooks])('writes and returns for %s webhooks what the one for several does', async (count) => {
    await subscribe(count);
    const [small, usual] = [await emitOne(), await emitOne()];
    const bySmall = await described(small, await fanOutOneEvent(db, small, plenty, settings));
    const byUsual = await described(usual, await fanOutEvents(db, [usual], plenty, settings, false));
    expect(bySmall).toEqual(byUsual);
    expect(bySmall).toMatchObject({ events: 1, deliveries: count, admitted: count, bodies: Math.min(count, 1) });
    expect([await waits(small), await waits(usual)]).toEqual([false, false]);
  });

  it.each<[string, () => Promise<Partial<typeof plenty> | undefined>]>([
    ['more webhooks than a few', () => subscribe(fewWebhooks).then(() => undefined)],
    [
      'a webhook whose circuit is open',
      () =>
        sql`insert into webhook_health (webhook_id, open_until) select id, now() + interval '1 hour' from webhooks
            where organization_id = ${organizationId}`
          .execute(db)
          .then(() => undefined),
    ],
    [
      'a webhook that is tried again after its circuit was open',
      () =>
        sql`insert into webhook_health (webhook_id, open_until, openings) select id, now() - interval '1 hour', 1 from webhooks
            where organization_id = ${organizationId}`
          .execute(db)
          .then(() => undefined),
    ],
    ['less capacity than for a few', async () => ({ total: fewWebhooks - 1 })],
    ['an endpoint queue without capacity', async () => ({ webhookIds: [organizationId], free: [0] })],
    ['no capacity for new endpoint queues', async () => ({ ofNewQueue: 0 })],
    ['a paused organization', async () => ({ pausedOrganizations: [organizationId] })],
  ])('writes nothing with %s, and leaves the event to the other statement', async (_what, prepare) => {
    await subscribe(1);
    const changed = await prepare();
    const eventId = await emitOne();
    expect(await fanOutOneEvent(db, eventId, { ...plenty, ...changed }, settings)).toBeNull();
    expect([await waits(eventId), await rows()]).toEqual([true, []]);
    expect((await fanOutEvents(db, [eventId], { ...plenty, ...changed }, settings)).events).toBe(1);
  });

  it('leaves an event of a type that only a newer version knows in the outbox', async () => {
    await subscribe(1);
    const eventId = await emitOne();
    await sql`update events set type = 'invoice.paid' where id = ${eventId}`.execute(db);
    expect(await fanOutOneEvent(db, eventId, plenty, settings)).toMatchObject({ events: 0, leases: [] });
    expect([await waits(eventId), await rows()]).toEqual([true, []]);
  });

  it('passes over an event that another process has locked, and one that is fanned out already', async () => {
    await subscribe(1);
    const eventId = await emitOne();
    await db.transaction().execute(async (other) => {
      await sql`select from outbox where event_id = ${eventId} for update`.execute(other);
      expect(await fanOutOneEvent(db, eventId, plenty, settings)).toMatchObject({ events: 0, leases: [] });
    });
    expect(await fanOutOneEvent(db, eventId, plenty, settings)).toMatchObject({ events: 1, deliveries: 1 });
    expect(await fanOutOneEvent(db, eventId, plenty, settings)).toMatchObject({ events: 0, deliveries: 0, leases: [] });
  });

  it('does not bring a large body along', async () => {
    await subscribe(1);
    const [eventId = ''] = await emitEvents(db, organizationId, 1, {
      data: { batch_id: 'b', text: 'x'.repeat(40_000) },
    });
    const result = await fanOutOneEvent(db, eventId, plenty, settings);
    expect(result?.leases).toMatchObject([{ event_id: eventId, body: null }]);
  });
});

it('is not tried in vain any more once the events of a process have many webhooks', async () => {
  await subscribe(40);
  await using worker = noting();
  const { fanOut } = fanOutOf(worker, { free: 1_000 });
  const small = () => asked.filter((text) => text.includes('judged as')).length;
  for (let event = 0; event < 30; event++) expect(await fanOut.fanOutEvents([await emitOne()])).toBe(1);
  expect(small()).toBeGreaterThan(0);
  const before = small();
  expect(await fanOut.fanOutEvents([await emitOne()])).toBe(1);
  expect(small()).toBe(before);
});
