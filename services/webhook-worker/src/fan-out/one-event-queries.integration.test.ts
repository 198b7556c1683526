import type { Database } from '@enterprise-api/shared/ledger';
import {
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  selectDeliveriesWithDueTime,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { fanOutOf } from '../testing/fan-out.ts';
import { emitEvents, plenty } from '../testing/ledger.ts';
import { fanOutOneEvent, fewWebhooks } from './one-event-queries.ts';
import { fanOutEvents } from './queries.ts';

const settings = { leaseMs: 45_000, maxAttempts: 10 };

let db: Database;
let close: () => Promise<void>;
let organizationId: string;
/** Statements that were sent. */
let asked: string[];

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
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
function noting(): Database {
  const { executeQuery } = db;
  return new Proxy(db, {
    get: (target, key) =>
      key === 'executeQuery'
        ? (query: { sql: string }, ...rest: []) => {
            asked.push(query.sql);
            return executeQuery.call(target, query as never, ...rest);
          }
        : Reflect.get(target, key, target),
  });
}

describe('the statement for one event', () => {
  it.each([0, 1, fewWebhooks])(
    'writes and returns for %s webhooks what the statement for several events does',
    async (count) => {
      await subscribe(count);
      const done = [];
      for (const isSmall of [true, false]) {
        const eventId = await emitOne();
        const result = isSmall
          ? await fanOutOneEvent(db, eventId, plenty, settings)
          : await fanOutEvents(db, [eventId], plenty, settings, false);
        const own = (await rows()).filter((row) => row.event_id === eventId);
        const ofAny = ({ id: _id, event_id: _event, ...row }: (typeof own)[number]) => ({
          ...row,
          created_at: null,
          next_attempt_at: Math.abs(Number(row.next_attempt_at) - Date.now() - settings.leaseMs) < 40_000,
        });
        const ofAnyLease = (result?.leases ?? []).map(({ id: _id, event_id: _event, lease_token, body, ...lease }) => ({
          ...lease,
          lease_token: typeof lease_token,
          hasBody: body !== null,
        }));
        expect(await waits(eventId)).toBe(false);
        done.push({
          ...result,
          leases: ofAnyLease
            .toSorted((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1))
            .map(({ hasBody: _, ...lease }) => lease),
          bodies: ofAnyLease.filter(({ hasBody }) => hasBody).length,
          rows: own.map(ofAny),
        });
      }
      expect(done[0]).toEqual(done[1]);
      expect(done[0]).toMatchObject({ events: 1, deliveries: count, admitted: count, bodies: Math.min(count, 1) });
    },
  );

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
  const { fanOut } = fanOutOf(noting(), { free: 1_000 });
  const small = () => asked.filter((text) => text.includes('judged as')).length;
  for (let event = 0; event < 30; event++) expect(await fanOut.fanOutEvents([await emitOne()])).toBe(1);
  expect(small()).toBeGreaterThan(0);
  const before = small();
  expect(await fanOut.fanOutEvents([await emitOne()])).toBe(1);
  expect(small()).toBe(before);
});
