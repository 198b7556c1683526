import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import { createDatabase, type Database, planProbes } from '@enterprise-api/shared/ledger';
import { newUuid, nilUuid, type Uuid, withUuidTime } from '@enterprise-api/shared/runtime';
import {
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  projectFolder,
  spawnGuarded,
  type TestDatabase,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from './dispatch/queries.ts';
import { fanOutOverdueEvents } from './fan-out/overdue-queries.ts';
import { fanOutOf } from './testing/fan-out.ts';
import { emitEvents, plenty } from './testing/ledger.ts';
import { keepOpen } from './testing/old-months.ts';

/** Events that were delivered while somebody's transaction was open: what is left of them cannot be vacuumed. */
const deadRows = 5_000;
const settings = { leaseMs: 45_000, maxAttempts: 3 };
/** Rows that wait are younger; those that were deleted are older. */
const from = () => new Date(Date.now() - 60_000);

let database: TestDatabase;
let db: Database;
let worker: Database;
let reader: { end: () => void; ended: Promise<unknown> };
let organizationId: Uuid;
let webhookId: Uuid;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 3 });
  worker = createDatabase({ url: database.url, applicationName: 'worker', poolSize: 1, serverSettings: planProbes });
  organizationId = await insertOrganization(db);
  webhookId = await insertWebhook(db, { organizationId });
  reader = await openReader();
  await sql`insert into outbox (event_id, organization_id, created_at)
    select ${idOfNth}, ${organizationId}, now() - interval '1 hour' from generate_series(1, ${deadRows}::int) n`.execute(
    db,
  );
  await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    select ${idOfNth}, ${webhookId}, ${organizationId}, gen_random_uuid(), 'batch.failed', now() - interval '1 hour', 3
    from generate_series(1, ${deadRows}::int) n`.execute(db);
  await sql`delete from outbox`.execute(db);
  await sql`delete from pending_deliveries`.execute(db);
});
afterAll(async () => {
  reader.end();
  await reader.ended;
  await worker.destroy();
  await db.destroy();
  await database.drop();
});
beforeEach(async () => {
  await sql`delete from outbox`.execute(db);
  await sql`delete from pending_deliveries`.execute(db);
});

/** An id of an hour ago. */
const idOfNth = sql`(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 3600000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid`;

/** A transaction that sees what was there when it began, until it is ended. */
async function openReader(): Promise<typeof reader> {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const read = async (trx: Database) => {
    await keepOpen(trx);
    await sql`select from outbox`.execute(trx);
    begun.resolve();
    await end.promise;
  };
  const ended = db.transaction().setIsolationLevel('repeatable read').execute(read);
  await Promise.race([begun.promise, ended]);
  return { end: () => end.resolve(), ended };
}

const dispatch = (since: Date | null) =>
  leaseDueDeliveries(worker, { cursor: nilUuid, visit: 1_000, rows: 1_000, from: since }, plenty, settings.leaseMs);
const relay = (since: Date | null) =>
  fanOutOverdueEvents(worker, plenty, settings, { cursor: null, limit: 100, olderThanMs: 0, from: since });

/** A delivery that has been due for so long. */
const insertDue = (secondsAgo: number) =>
  sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    values (gen_random_uuid(), ${webhookId}, ${organizationId}, gen_random_uuid(), 'batch.failed',
      now() - make_interval(secs => ${secondsAgo}), 3)`.execute(db);

/** Events that have waited for two minutes, with a webhook that is older. */
async function emitTwoMinutesAgo(count: number): Promise<void> {
  const at = Date.now() - 120_000;
  const events = Array.from({ length: count }, () =>
    newEvent(testEvent(organizationId), at, { id: withUuidTime(newUuid(), at) }),
  );
  await writeEvents(db, events);
  await sql`update outbox set created_at = now() - interval '2 minutes'`.execute(db);
  await sql`update webhooks set created_at = now() - interval '1 hour'`.execute(db);
}

/** A process that has locked every event that waits. */
async function startLockingProcess() {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
  const program = 'services/webhook-worker/src/testing/locked-outbox-main.ts';
  const locking = await spawnGuarded(process.execPath, [program], { cwd: projectFolder, env });
  await until('it has locked the events', () => locking.lines.includes('locked'), { withinMs: 60_000 });
  return locking;
}

async function countUnlocked(): Promise<number> {
  const { rows } = await sql`select from outbox for update skip locked`.execute(db);
  return rows.length;
}

/** Entries of indexes of a table that a statement passes, those of deleted rows among them. */
async function entriesPassed(table: string, statement: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(worker);
    const { rows } = await sql<{ entries: number }>`
      select sum(idx_tup_read)::float8 as entries from pg_stat_user_indexes where relname = ${table}`.execute(worker);
    return rows[0]?.entries ?? Number.NaN;
  };
  const before = await count();
  await statement();
  return (await count()) - before;
}

describe('while a long transaction keeps what was deleted', () => {
  it.each([
    ['dispatch', 'pending_deliveries', dispatch],
    ['the relay', 'outbox', relay],
  ] as const)('%s passes none of it when it begins where something waits', async (_who, table, run) => {
    expect(await entriesPassed(table, () => run(null))).toBeGreaterThanOrEqual(deadRows);
    expect(await entriesPassed(table, () => run(from()))).toBeLessThan(100);
  });

  it.each([
    ['dispatch', 'pending_deliveries', dispatch, () => insertDue(5)],
    ['the relay', 'outbox', relay, () => emitEvents(db, organizationId, 1)],
  ] as const)(
    '%s passes none of it for a webhook or an organization of which something waits',
    async (_who, table, run, wait) => {
      await wait();
      let leases = 0;
      const runOnce = async () => {
        leases = (await run(from())).leases.length;
      };
      expect(await entriesPassed(table, runOnce)).toBeLessThan(100);
      expect(leases).toBe(1);
    },
  );

  it('dispatch knows since when the oldest is due, also when more is due than it looks at', async () => {
    for (const secondsAgo of [20, 50, 30]) await insertDue(secondsAgo);
    const page = { cursor: nilUuid, visit: 1_000, rows: 2, from: from() };
    const { isComplete, dueSince } = await leaseDueDeliveries(worker, page, plenty, settings.leaseMs);
    expect(isComplete).toBe(false);
    expect(Date.now() - (dueSince?.getTime() ?? 0)).toBeGreaterThan(49_000);
  });

  it('dispatch leases what is due since then, and finds by full passes what became due unseen before', async () => {
    await insertDue(5);
    await insertDue(600);
    const since = await dispatch(from());
    expect(since.leases).toHaveLength(1);
    expect(Date.now() - (since.dueSince?.getTime() ?? 0)).toBeLessThan(60_000);
    expect((await dispatch(null)).leases).toHaveLength(1);
  });

  it('the relay fans out what was emitted since then, of every organization in turn', async () => {
    const other = await insertOrganization(db);
    await insertWebhook(db, { organizationId: other });
    await emitEvents(db, organizationId, 3);
    await emitEvents(db, other, 3);
    const { events, deliveries, cursor } = await relay(from());
    expect({ events, deliveries, cursor }).toEqual({ events: 6, deliveries: 6, cursor: null });
  });

  it('the relay fans out what a killed process had locked with its next run, although full passes are rare', async () => {
    await emitTwoMinutesAgo(3);
    const locking = await startLockingProcess();
    // The first pass of a process is a full one; the next follows after a minute.
    const { fanOut } = fanOutOf(db, { free: 100 });
    expect(await fanOut.fanOutOverdue()).toBe('all_visited');
    expect(await fanOut.fanOutOverdue()).toBe('all_visited');
    locking.kill('SIGKILL');
    await locking.exited;
    await until('its locks are gone', countUnlocked, { holds: (rows) => rows === 3, withinMs: 60_000 });
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await countUnlocked()).toBe(0);
  });

  it('the relay goes on with what was beyond its limit', async () => {
    await emitTwoMinutesAgo(3);
    const { fanOut } = fanOutOf(db, { free: 2 });
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await countUnlocked()).toBe(1);
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await countUnlocked()).toBe(0);
  });

  it('the relay visits all organizations next when more events wait than it looks at', async () => {
    await sql`insert into outbox (event_id, organization_id, created_at)
      select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70009' || lpad(to_hex(n), 15, '0'))::uuid, ${organizationId}, now()
      from generate_series(1, 1000) n`.execute(db);
    // None of them has an event of a known type, so none is fanned out.
    expect(await relay(from())).toMatchObject({ events: 0, cursor: nilUuid });
  });

  it('a webhook that is disabled and has something pending for later is found without anything due', async () => {
    await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
      values (gen_random_uuid(), ${webhookId}, ${organizationId}, gen_random_uuid(), 'batch.failed', now() + interval '1 day', 3)`.execute(
      db,
    );
    await sql`update webhooks set state = 'disabled', disabled_reason = 'manual' where id = ${webhookId}`.execute(db);
    expect((await dispatch(null)).notEnabled).toEqual([webhookId]);
    await sql`update webhooks set state = 'enabled', disabled_reason = null where id = ${webhookId}`.execute(db);
    expect((await dispatch(null)).notEnabled).toEqual([]);
  });
});
