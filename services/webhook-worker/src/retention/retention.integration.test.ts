import { newEvent, webhookTestData } from '@enterprise-api/shared/events';
import { createDatabase, type Database, dayMs, ensurePartitions, startOfMonth } from '@enterprise-api/shared/ledger';
import { newUuid, nilUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from '../dispatch/queries.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { findDelivery, outcomeOf, plenty } from '../testing/ledger.ts';
import {
  countRows,
  deliverAll,
  gone,
  insertOldEvents,
  keepOpen,
  monthBefore,
  monthsAgo,
  type OldDeliveries,
  partitionAt,
  partitionNames,
  runOnce,
  testPeriods,
  whole,
} from '../testing/old-months.ts';
import { insertProbe } from '../webhooks/queries.ts';
import { withRetentionLock } from './loop.ts';
import { inDropOrder } from './partitions.ts';
import { planRetention } from './plan.ts';
import { listPartitions, readProgress } from './queries.ts';
import { type RetentionRun, runRetention } from './run.ts';

let db: Database;
let url: string;
let close: () => Promise<void>;
let organizationId: string;
let logged: { message: string; fields: Record<string, unknown> }[] = [];

beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  logged = [];
  // Each test fills months that an earlier one has emptied.
  await sql`update retention_progress set bodies_removed_until = null, keys_removed_until = null`.execute(db);
  organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
});

const note = (fields: Record<string, unknown>, message: string) => void logged.push({ message, fields });
const run = (values: Partial<RetentionRun> = {}) => runOnce(url, { log: { info: note, warn: note }, ...values });

/** Events of a month that is past one of its times. */
const old = async (months: number, count = 3): Promise<OldDeliveries> =>
  insertOldEvents(db, organizationId, await monthBefore(db, months), count);

describe('history', () => {
  it('goes with its keys, and younger months and their bodies stay', async () => {
    const [past, young] = [await old(monthsAgo.pastHistory), await old(0)];
    for (const { leases } of [past, young]) await deliverAll(db, leases);
    expect(await countRows(db, past.eventIds)).toEqual(whole);
    expect(await run()).toMatchObject({ kept: [], isComplete: true });
    expect(await countRows(db, past.eventIds)).toEqual(gone);
    expect(await countRows(db, young.eventIds)).toEqual(whole);
    const [oldest] = inDropOrder(await listPartitions(db));
    expect(startOfMonth(oldest?.from ?? 0, 1) + testPeriods.RETENTION_HISTORY).toBeGreaterThan(Date.now());
  });

  it('stays for ever where the settings say so', async () => {
    const past = await old(monthsAgo.pastHistory);
    await deliverAll(db, past.leases);
    const forEver = Number.POSITIVE_INFINITY;
    const periods = { RETENTION_BODIES: forEver, RETENTION_HISTORY: forEver, RETENTION_AUDIT: forEver };
    expect(await run({ periods })).toMatchObject({ isComplete: true, nextMs: forEver });
    expect(await countRows(db, past.eventIds)).toEqual(whole);
  });

  it('stays while a delivery is pending, which the log says, and goes when it is done', async () => {
    const past = await old(monthsAgo.pastHistory);
    const [last, ...others] = past.leases;
    await deliverAll(db, others);
    for (let runs = 0; runs < 2; runs += 1) {
      const result = await run();
      expect(result?.kept.map(({ pending }) => pending)).toEqual([1]);
    }
    expect(logged.filter(({ message }) => message.includes('kept'))).toHaveLength(2);
    expect((await readProgress(db)).kept_months).toBe(1);
    // Bodies of what is done are gone, that of the pending delivery is not.
    expect(await countRows(db, past.eventIds)).toMatchObject({ events: 3, bodies: 1, deliveries: 3 });
    await deliverAll(db, last === undefined ? [] : [last]);
    expect((await run())?.kept).toEqual([]);
    expect(await countRows(db, past.eventIds)).toEqual(gone);
    expect((await readProgress(db)).kept_months).toBe(0);
  });

  it('stays while one of its events is not fanned out', async () => {
    const past = await old(monthsAgo.pastHistory, 1);
    await deliverAll(db, past.leases);
    const [eventId] = past.eventIds;
    await sql`insert into outbox (event_id, organization_id) values (${eventId}, ${organizationId})`.execute(db);
    expect((await run())?.kept.map(({ pending }) => pending)).toEqual([1]);
    await sql`delete from outbox`.execute(db);
    expect((await run())?.kept).toEqual([]);
  });

  it('goes in spite of a parked event, which the database has refused all the time, and says so', async () => {
    const past = await old(monthsAgo.pastHistory, 1);
    await deliverAll(db, past.leases);
    await sql`insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
      values (${past.eventIds[0]}, ${organizationId}, now(), '23514 deliveries', 9, now())`.execute(db);
    expect((await run())?.kept).toEqual([]);
    expect(await db.selectFrom('parked_events').selectAll().execute()).toEqual([]);
    expect(logged).toContainEqual({ message: expect.stringContaining('parked events'), fields: { events: 1 } });
  });
});

describe('the probe of a webhook that was disabled as failing', () => {
  it('stays with its body until its last attempt, and then keeps neither its day nor its month', async () => {
    const webhookId = await insertWebhook(db, { organizationId });
    await sql`update webhooks set state = 'disabled', disabled_reason = 'failing', auto_recover = true
      where id = ${webhookId}`.execute(db);
    const at = await monthBefore(db, monthsAgo.pastHistory);
    const data = webhookTestData(webhookId);
    const test = { organization_id: toPublicId('org', organizationId), type: 'webhook.test', data } as const;
    const event = newEvent(test, at, { test: true });
    await db.transaction().execute((trx) => insertProbe(trx, webhookId, event, 2));
    const probe = { organizationId, eventIds: [event.id], leases: [] };
    const partitions = [
      await partitionAt(db, 'event_bodies', probe),
      await partitionAt(db, 'events', probe),
      await partitionAt(db, 'deliveries', probe),
    ].map(({ name }) => name);
    const attempt = async () => {
      const page = { cursor: nilUuid, visit: 100, rows: 100, from: null };
      const { leases } = await leaseDueDeliveries(db, page, plenty, 45_000);
      const ofProbe = leases.filter((lease) => lease.webhook_id === webhookId);
      expect(ofProbe).toHaveLength(1);
      await recordOutcomes(
        db,
        ofProbe.map((lease) => outcomeOf(lease, { delayMs: 0, countsForHealth: false, countsForBreaker: false })),
      );
      return ofProbe[0]?.id ?? '';
    };
    for (let runs = 0; runs < 2; runs += 1) {
      expect(await run()).toMatchObject({ kept: [{ pending: 1 }], isComplete: true });
      expect(await countRows(db, [event.id])).toMatchObject({ events: 1, bodies: 1, deliveries: 1, attempts: runs });
      expect(await findDelivery(db, await attempt())).toMatchObject({ status: runs === 0 ? 'pending' : 'failed' });
    }
    expect(await run()).toMatchObject({ kept: [], isComplete: true });
    expect(await countRows(db, [event.id])).toEqual(gone);
    for (const name of partitions) expect(await partitionNames(db)).not.toContain(name);
  });
});

describe('bodies', () => {
  it('go alone, with everything else of the events as it was', async () => {
    const past = await old(monthsAgo.pastBodies);
    await deliverAll(db, past.leases);
    const rows = () =>
      db.selectFrom('events').selectAll().where('id', 'in', past.eventIds).orderBy('position').execute();
    const before = await rows();
    await run();
    expect(await rows()).toEqual(before);
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 0 });
    const until = (await readProgress(db)).bodies_removed_until?.getTime() ?? 0;
    expect(until + testPeriods.RETENTION_BODIES).toBeLessThanOrEqual(Date.now());
  });

  it('of pending deliveries stay, and go when these are done', async () => {
    const past = await old(monthsAgo.pastBodies);
    const [last, ...others] = past.leases;
    await deliverAll(db, others);
    await run();
    const day = await partitionAt(db, 'event_bodies', past);
    const kept = db.selectFrom('event_bodies').select('event_id').where('event_id', 'in', past.eventIds);
    expect(await kept.execute()).toEqual([{ event_id: last?.event_id }]);
    await deliverAll(db, last === undefined ? [] : [last]);
    await run();
    expect(await kept.execute()).toEqual([]);
    expect(await partitionNames(db)).not.toContain(day.name);
  });

  it('without a partition of their own are deleted too, except for pending deliveries', async () => {
    const middle = await monthBefore(db, monthsAgo.pastBodies);
    const past = await insertOldEvents(db, organizationId, middle - 5 * dayMs, 3);
    const [last, ...others] = past.leases;
    await deliverAll(db, others);
    const ofDefault = () => sql<{ event_id: string }>`select event_id from event_bodies_default`.execute(db);
    expect((await ofDefault()).rows).toHaveLength(3);
    await ensurePartitions(db, new Date(middle - 5 * dayMs), 1);
    expect((await ofDefault()).rows).toHaveLength(3);
    expect(await run()).toMatchObject({ isComplete: true });
    expect((await ofDefault()).rows).toEqual([{ event_id: last?.event_id }]);
    await deliverAll(db, last === undefined ? [] : [last]);
    await run();
    expect((await ofDefault()).rows).toEqual([]);
  });

  it('wait for who reads the events for long, and nobody waits for them', async () => {
    const past = await old(monthsAgo.pastBodies);
    await deliverAll(db, past.leases);
    const other = createDatabase({ url, applicationName: 'dump', poolSize: 1 });
    await other.transaction().execute(async (dump) => {
      await keepOpen(dump);
      await sql`select count(*) from event_bodies`.execute(dump);
      await sql`select pg_sleep(1.1)`.execute(dump);
      expect((await run())?.isComplete).toBe(false);
      expect(await countRows(db, past.eventIds)).toEqual(whole);
    });
    await other.destroy();
    expect((await run())?.isComplete).toBe(true);
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 0 });
  });
});

describe('a run', () => {
  /** A run whose connection ends before a statement, counted from 1; nothing is sent from there on. */
  const runUntil = (statement: number) => {
    let sent = 0;
    return withRetentionLock(url, (session) =>
      runRetention({
        db: session.withPlugin({
          transformQuery: ({ node }) => {
            sent += 1;
            if (sent >= statement) throw new Error('killed');
            return node;
          },
          transformResult: async ({ result }) => result,
        }),
        periods: testPeriods,
        log: { info: note, warn: note },
        signal: new AbortController().signal,
      }),
    );
  };

  it('that ends at any statement is continued by the next one, and pending deliveries are there all the time', async () => {
    const [history, bodies] = [await old(monthsAgo.pastHistory), await old(monthsAgo.pastBodies)];
    for (const { leases } of [history, bodies]) await deliverAll(db, leases);
    const pending = await old(monthsAgo.pastBodies, 1);
    let ended = 0;
    for (let statement = 1; ; statement += 1) {
      const end = await runUntil(statement).then(
        (result) => (result?.isComplete ? 'complete' : 'busy'),
        (error: Error) => error.message,
      );
      expect(await countRows(db, pending.eventIds)).toMatchObject({ events: 1, bodies: 1, deliveries: 1 });
      if (end === 'complete') break;
      expect(['killed', 'busy']).toContain(end);
      ended += 1;
    }
    expect(ended).toBeGreaterThan(20);
    expect(await countRows(db, history.eventIds)).toEqual(gone);
    expect(await countRows(db, bodies.eventIds)).toEqual({ ...whole, bodies: 0 });
    await deliverAll(db, pending.leases);
  });

  it('is one at a time', async () => {
    const second = await withRetentionLock(url, () => run());
    expect(second).toBeNull();
    expect(await run()).not.toBeNull();
  });

  it('removes versions of webhooks that were replaced before the history, unless it keeps an earlier month', async () => {
    const id = await insertWebhook(db, { organizationId });
    for (const state of ['disabled', 'enabled'])
      await sql`update webhooks set version = version + 1, state = ${state}, disabled_reason = ${state === 'disabled' ? 'manual' : null}
        where id = ${id}`.execute(db);
    await sql`update webhook_versions set change_ended_at = now() - case when version = 3 then interval '1 day' else interval '900 days' end
      where webhook_id = ${id}`.execute(db);
    const versions = async () =>
      (
        await db
          .selectFrom('webhook_versions')
          .select('version')
          .where('webhook_id', '=', id)
          .orderBy('version')
          .execute()
      ).map(({ version }) => version);
    const past = await old(monthsAgo.pastHistory, 1);
    expect((await run())?.kept).toHaveLength(1);
    expect(await versions()).toEqual([1, 2, 3]);
    await deliverAll(db, past.leases);
    expect((await run())?.kept).toEqual([]);
    expect(await versions()).toEqual([2, 3]);
  });

  it('removes old rows of the audit log, and deleted webhooks that no delivery can name', async () => {
    const at = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
    for (const days of [401, 399]) {
      await sql`insert into audit_log (id, actor, action, object_type, object_id, organization_id, changed_fields, created_at)
        values (gen_random_uuid(), 'test', 'webhook.created', 'webhook', gen_random_uuid(), ${organizationId}, '{}', ${at(days)})`.execute(
        db,
      );
    }
    const [deletedLong, deletedNow, enabled] = await Promise.all(
      [0, 1, 2].map(() => insertWebhook(db, { organizationId })),
    );
    const remove = (id: string | undefined, updatedAt: Date) =>
      sql`update webhooks set state = 'deleted', secret_sealed = null, updated_at = ${updatedAt} where id = ${id}`.execute(
        db,
      );
    await remove(deletedLong, at(1_000));
    await remove(deletedNow, at(0));
    for (const id of [deletedLong, deletedNow, enabled]) {
      await sql`insert into webhook_health (webhook_id) values (${id})`.execute(db);
    }
    const replays = [at(1_000), at(0)].map((created_at) => {
      const ended = { state: 'completed' as const, completed_at: created_at, delivery_ids: null, rounds: null };
      const about = {
        id: newUuid(),
        organization_id: organizationId,
        webhook_id: enabled ?? '',
        rate_per_second: null,
      };
      return { ...about, ...ended, created_at };
    });
    await db.insertInto('replays').values(replays).execute();
    const notes = [at(1_000), at(0)].map((time) => withUuidTime(newUuid(), time.getTime()));
    const noted = notes.map((event_id) => ({ organization_id: organizationId, event_id }));
    await db.insertInto('bodies_to_remove').values(noted).execute();
    const plan = await planRetention(db, testPeriods);
    expect(plan).toContainEqual(expect.stringMatching(/^replays: would be removed now: .* before 20..-/));
    expect(plan).toContainEqual(expect.stringMatching(/^audit_log: would be removed now: rows before 20..-/));
    expect(plan).toContainEqual(expect.stringMatching(/^deleted webhooks: would be removed now: .* before 20..-/));
    await run();
    expect(await db.selectFrom('audit_log').select('created_at').execute()).toHaveLength(1);
    expect(await db.selectFrom('replays').select('id').execute()).toEqual([{ id: replays[1]?.id }]);
    const kept = await db.selectFrom('bodies_to_remove').select('event_id').where('event_id', 'in', notes).execute();
    expect(kept).toEqual([{ event_id: notes[1] }]);
    const left = { webhooks: 'id', webhook_versions: 'webhook_id', webhook_health: 'webhook_id' };
    for (const [table, column] of Object.entries(left)) {
      const { rows } = await sql<{ id: string }>`select ${sql.ref(column)} as id from ${sql.table(table)}
        where ${sql.ref(column)} = any (${[deletedLong, deletedNow, enabled]}::uuid[])`.execute(db);
      expect([table, rows.map(({ id }) => id).sort()]).toEqual([table, [deletedNow, enabled].sort()]);
    }
  });
});
