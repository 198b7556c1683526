import type { Database } from '@enterprise-api/shared/ledger';
import {
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  selectDeliveriesWithDueTime,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { emitEvents, plenty } from '../testing/ledger.ts';
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

const emit = (count = 1, values: Parameters<typeof emitEvents>[3] = {}) =>
  emitEvents(db, organizationId, count, values);

const deliveries = () =>
  selectDeliveriesWithDueTime(db).where('deliveries.organization_id', '=', organizationId).execute();
const outboxSize = async () =>
  (await db.selectFrom('outbox').select('event_id').where('organization_id', '=', organizationId).execute()).length;

describe('fan-out', () => {
  it('writes one delivery per subscribed webhook, leases it, and empties the outbox', async () => {
    const all = await insertWebhook(db, { organizationId, events: ['*'] });
    const family = await insertWebhook(db, { organizationId, events: ['consultation.*'] });
    const exact = await insertWebhook(db, { organizationId, events: ['consultation.completed'] });
    await insertWebhook(db, { organizationId, events: ['batch.*', 'consultation.failed'] });
    const [eventId = ''] = await emit();

    const result = await fanOutEvents(db, [eventId], plenty, settings);

    expect(result).toMatchObject({ events: 1, deliveries: 3, dueWebhookIds: [] });
    expect(result.leases.map((lease) => lease.webhook_id).sort()).toEqual([all, family, exact].sort());
    const derived = await sql<{ id: string }>`
      select delivery_id(${eventId}::uuid, id) as id from webhooks where id = any (${[all, family, exact]}::uuid[])`.execute(
      db,
    );
    expect(result.leases.map((lease) => lease.id).sort()).toEqual(derived.rows.map(({ id }) => id).sort());
    expect(await outboxSize()).toBe(0);
    for (const row of await deliveries()) {
      expect(row).toMatchObject({ status: 'pending', lease_count: 1, attempt_count: 0, max_attempts: 10, round: 0 });
      expect(Number(row.next_attempt_at) - Date.now()).toBeGreaterThan(20_000);
    }
  });

  it('leaves deliveries beyond the capacity of their webhook due now, for any process', async () => {
    const webhook = await insertWebhook(db, { organizationId });
    const ids = await emit(5);
    const result = await fanOutEvents(db, ids, { ...plenty, webhookIds: [webhook], free: [2], busy: [0] }, settings);
    expect(result.leases).toHaveLength(2);
    expect(result.dueWebhookIds).toEqual([webhook]);
    const due = (await deliveries()).filter((row) => row.next_attempt_at !== null && row.next_attempt_at <= new Date());
    expect(due).toHaveLength(3);
    expect(due.every((row) => row.lease_count === 0)).toBe(true);
  });

  it('gives what capacity the process has to each webhook in turn, so that one with many events takes no other’s', async () => {
    await insertWebhook(db, { organizationId });
    const flood = await emit(5);
    const others = await insertOrganization(db);
    const other = await insertWebhook(db, { organizationId: others });
    const late = await emitEvents(db, others, 1);
    const result = await fanOutEvents(db, [...flood, ...late], { ...plenty, total: 2 }, settings);
    expect(result.leases).toHaveLength(2);
    expect(result.leases.map((lease) => lease.webhook_id)).toContain(other);
  });

  it('leases no more than the process has capacity for over all webhooks', async () => {
    for (let index = 0; index < 3; index++) await insertWebhook(db, { organizationId });
    const result = await fanOutEvents(db, await emit(4), { ...plenty, total: 5 }, settings);
    expect(result.leases).toHaveLength(5);
    expect(result.deliveries).toBe(12);
  });

  it('makes new deliveries of a webhook whose circuit is open due at its end', async () => {
    const webhook = await insertWebhook(db, { organizationId });
    await sql`insert into webhook_health (webhook_id, open_until) values (${webhook}, now() + interval '1 hour')`.execute(
      db,
    );
    const result = await fanOutEvents(db, await emit(), plenty, settings);
    expect(result.leases).toEqual([]);
    const [row] = await deliveries();
    expect(row?.lease_count).toBe(0);
    expect(Number(row?.next_attempt_at) - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('matches a webhook that was enabled when the event came, and none that was made later, disabled or deleted', async () => {
    await insertWebhook(db, { organizationId, state: 'disabled' });
    await insertWebhook(db, { organizationId, state: 'deleted' });
    await insertWebhook(db, { organizationId: await insertOrganization(db) });
    const ids = await emit();
    await insertWebhook(db, { organizationId });
    const result = await fanOutEvents(db, ids, plenty, settings);
    expect(result).toMatchObject({ events: 1, deliveries: 0, leases: [] });
    expect(await outboxSize()).toBe(0);
  });

  it('leaves an event of a closed organization to the erasure once that is due', async () => {
    const ids = await emit();
    const eraseIn = (interval: string) =>
      sql`update organizations set state = 'closing', erase_at = now() + ${interval}::interval where id = ${organizationId}`.execute(
        db,
      );
    await eraseIn('-1 s');
    expect((await fanOutEvents(db, ids, plenty, settings)).events).toBe(0);
    await eraseIn('1 h');
    expect((await fanOutEvents(db, ids, plenty, settings)).events).toBe(1);
  });

  it('goes by the subscription at the time of the fan-out, when it has changed since the event', async () => {
    const left = await insertWebhook(db, { organizationId, events: ['consultation.*'] });
    const joined = await insertWebhook(db, { organizationId, events: ['batch.*'] });
    const ids = await emit();
    await db
      .updateTable('webhooks')
      .set({ event_patterns: ['batch.failed'] })
      .where('id', '=', left)
      .execute();
    await db
      .updateTable('webhooks')
      .set({ event_patterns: ['*'] })
      .where('id', '=', joined)
      .execute();
    const result = await fanOutEvents(db, ids, plenty, settings);
    expect(result.leases.map((lease) => lease.webhook_id)).toEqual([joined]);
  });

  it('reaches no webhook with an event of a type that is not subscribable, whatever its patterns say', async () => {
    await insertWebhook(db, { organizationId, events: ['*', 'webhook.*', 'webhook.test'] });
    const ids = await emit();
    await sql`update events set type = 'webhook.test' where id = ${ids[0]}`.execute(db);
    expect(await fanOutEvents(db, ids, plenty, settings)).toMatchObject({ events: 1, deliveries: 0 });
    expect(await outboxSize()).toBe(0);
  });

  it('notes its times for an event without deliveries', async () => {
    const [without = ''] = await emit();
    await fanOutEvents(db, [without], plenty, settings);
    await insertWebhook(db, { organizationId });
    const [withDelivery = ''] = await emit();
    await fanOutEvents(db, [withDelivery], plenty, settings);
    const noted = await db
      .selectFrom('fan_outs')
      .selectAll()
      .where('event_id', 'in', [without, withDelivery])
      .execute();
    const [{ accepted } = { accepted: undefined }] = await db
      .selectFrom('events')
      .select('created_at as accepted')
      .where('id', '=', without)
      .execute();
    const [row, ...others] = noted.toSorted((a, b) => Number(b.event_id === without) - Number(a.event_id === without));
    expect(row).toMatchObject({ event_id: without });
    expect(Number(row?.began_at)).toBeGreaterThanOrEqual(Number(accepted));
    expect(Number(row?.ended_at)).toBeGreaterThanOrEqual(Number(row?.began_at));
    // A machine that stalls makes the second fan-out slow.
    for (const { began_at, ended_at } of others) expect(Number(ended_at) - Number(began_at)).toBeGreaterThan(450);
  });

  it('notes its times for an event whose fan-out takes long: its first delivery does not tell when that began', async () => {
    const webhook = await insertWebhook(db, { organizationId });
    const [id = ''] = await emit();
    const other = await db.startTransaction().execute();
    await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
      values (delivery_id(${id}, ${webhook}), ${organizationId}, ${webhook}, ${id}, 'consultation.completed', 'pending', 1)`.execute(
      other,
    );
    const fanningOut = fanOutEvents(db, [id], plenty, settings);
    const slow = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and xact_start < clock_timestamp() - interval '600 milliseconds'`;
    await until('the fan-out has taken long', async () => (await slow.execute(db)).rows.length > 0);
    await other.rollback().execute();
    expect(await fanningOut).toMatchObject({ deliveries: 1 });
    const noted = await db.selectFrom('fan_outs').selectAll().where('event_id', '=', id).executeTakeFirstOrThrow();
    expect(Number(noted.ended_at) - Number(noted.began_at)).toBeGreaterThan(500);
  });

  it('leaves an event of a type that only a newer version knows in the outbox', async () => {
    await insertWebhook(db, { organizationId, events: ['*'] });
    const ids = await emit(2);
    await sql`update events set type = 'invoice.paid' where id = ${ids[0]}`.execute(db);
    expect(await fanOutEvents(db, ids, plenty, settings)).toMatchObject({ events: 1, deliveries: 1 });
    expect(await outboxSize()).toBe(1);
  });

  it('changes nothing when an event is fanned out twice', async () => {
    await insertWebhook(db, { organizationId });
    const [eventId = ''] = await emit();
    await fanOutEvents(db, [eventId], plenty, settings);
    const before = await deliveries();
    // The row comes back, as after a restore of the outbox: the derived id keeps the delivery single.
    await db.insertInto('outbox').values({ event_id: eventId, organization_id: organizationId }).execute();
    const again = await fanOutEvents(db, [eventId], plenty, settings);
    expect(again).toMatchObject({ events: 1, deliveries: 0, leases: [] });
    expect(await deliveries()).toEqual(before);
  });

  it('gives each event to one of two processes that fan out at once', async () => {
    await insertWebhook(db, { organizationId });
    const ids = await emit(20);
    const results = await Promise.all([
      fanOutEvents(db, ids, plenty, settings),
      fanOutEvents(db, ids, plenty, settings),
    ]);
    expect(results.reduce((sum, result) => sum + result.leases.length, 0)).toBe(20);
    expect(await deliveries()).toHaveLength(20);
  });

  it('is all or nothing: when its deliveries cannot be written, its events stay in the outbox', async () => {
    await insertWebhook(db, { organizationId });
    const ids = await emit(3);
    // No smallint: the insert fails, as it would for want of a partition.
    const impossible = { ...settings, maxAttempts: 40_000 };
    await expect(fanOutEvents(db, ids, plenty, impossible)).rejects.toThrow('out of range');
    expect(await outboxSize()).toBe(3);
    expect((await fanOutEvents(db, ids, plenty, settings)).deliveries).toBe(3);
  });

  it('passes over events that another process has locked, and does not wait for them', async () => {
    await insertWebhook(db, { organizationId });
    const ids = await emit(2);
    await db.transaction().execute(async (other) => {
      await sql`select from outbox where event_id = ${ids[0]} for update`.execute(other);
      const answer = await db.transaction().execute(async (trx) => {
        await sql`set local lock_timeout = '500ms'`.execute(trx);
        return fanOutEvents(trx, ids, plenty, settings);
      });
      expect(answer.events).toBe(1);
    });
    expect((await fanOutEvents(db, ids, plenty, settings)).events).toBe(1);
  });

  it('brings the content of each event with exactly one of its leases', async () => {
    const webhooks = [await insertWebhook(db, { organizationId }), await insertWebhook(db, { organizationId })];
    const ids = await emit(3);
    const { leases } = await fanOutEvents(db, ids, plenty, settings);
    expect(leases).toHaveLength(ids.length * webhooks.length);
    const brought = leases.filter(({ body }) => body !== null);
    expect(brought.map(({ event_id }) => event_id).sort()).toEqual([...ids].sort());
    const withBodies = db.selectFrom('events').innerJoin('event_bodies', 'event_bodies.event_id', 'events.id');
    const stored = await withBodies.select(['id', 'body', 'request_id']).where('id', 'in', ids).execute();
    for (const { event_id, body, request_id } of brought) {
      expect(stored).toContainEqual({ id: event_id, body, request_id });
    }
  });

  it('does not wait for the disk with its commit, and leaves other transactions as they are', async () => {
    await insertWebhook(db, { organizationId });
    const ids = await emit();
    const setting = async (on: Database) =>
      (await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(on)).rows[0]?.synchronous_commit;
    const before = await setting(db);
    const seen = await db.transaction().execute(async (trx) => {
      await sql`set local synchronous_commit = on`.execute(trx);
      const atFirst = await setting(trx);
      await fanOutEvents(trx, ids, plenty, settings);
      return [atFirst, await setting(trx)];
    });
    expect([...seen, await setting(db)]).toEqual(['on', 'off', before]);
  });
});
