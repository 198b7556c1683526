import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  countRows,
  deliverAll,
  finishAll,
  gone,
  insertOldEvents,
  keepOpen,
  makePending,
  monthBefore,
  monthsAgo,
  type OldDeliveries,
  partitionAt,
  partitionNames,
  runOnce,
  testPeriods,
  whole,
} from '../testing/old-months.ts';
import { copyEvents, createCopy, replaceByCopy } from './body-queries.ts';
import { monthsOf } from './months.ts';
import { listPartitions } from './partition-queries.ts';
import { planRetention } from './plan.ts';
import { readProgress } from './progress-queries.ts';
import { runRetention } from './run.ts';
import { withRetentionLock } from './session.ts';
import type { RetentionRun } from './types.ts';

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
    const [oldest] = monthsOf(await listPartitions(db));
    expect((oldest?.until ?? 0) + testPeriods.RETENTION_HISTORY).toBeGreaterThan(Date.now());
  });

  it('stays for ever where the settings say so', async () => {
    const past = await old(monthsAgo.pastHistory);
    await deliverAll(db, past.leases);
    const forEver = Number.POSITIVE_INFINITY;
    const periods = { RETENTION_BODIES: forEver, RETENTION_HISTORY: forEver, RETENTION_AUDIT: forEver };
    expect(await run({ periods })).toMatchObject({ isComplete: true, nextMs: forEver });
    expect(await countRows(db, past.eventIds)).toEqual(whole);
  });

  it('stays while a delivery is pending, which the log says once a day, and goes when it is done', async () => {
    const past = await old(monthsAgo.pastHistory);
    const [last, ...others] = past.leases;
    await deliverAll(db, others);
    for (let runs = 0; runs < 2; runs += 1) {
      const result = await run();
      expect(result?.kept.map(({ pending }) => pending)).toEqual([1]);
    }
    expect(logged.filter(({ message }) => message.includes('kept'))).toHaveLength(1);
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

  it('is put back when a delivery became pending in the moment of the detaching', async () => {
    const past = await old(monthsAgo.pastHistory);
    await deliverAll(db, past.leases);
    const { name } = await partitionAt(db, 'deliveries', past);
    // As a run does that is killed after it has detached.
    await sql`alter table deliveries detach partition ${sql.table(name)} concurrently`.execute(db);
    await makePending(db, name, past.leases[0]?.id);
    expect((await run())?.kept.map(({ pending }) => pending)).toEqual([1]);
    expect(await partitionNames(db)).toContain(name);
    expect(await countRows(db, past.eventIds)).toMatchObject({ events: 3, bodies: 1, deliveries: 3 });
    await finishAll(db);
    await run();
    expect(await countRows(db, past.eventIds)).toEqual(gone);
  });

  it('is put back by a longer retention, with the columns that a migration has added to the others meanwhile', async () => {
    const past = await old(monthsAgo.pastBodies);
    const { name } = await partitionAt(db, 'events', past);
    await sql`alter table events detach partition ${sql.table(name)} concurrently`.execute(db);
    await sql`alter table events add column note text not null default 'none, yet', add column more int`.execute(db);
    try {
      await run();
      expect(await partitionNames(db)).toContain(name);
      const { rows } = await sql`select note, more from events where id = any (${past.eventIds}::uuid[])`.execute(db);
      expect(rows).toEqual(past.eventIds.map(() => ({ note: 'none, yet', more: null })));
    } finally {
      await sql`alter table events drop column note, drop column more`.execute(db);
    }
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
    expect(await rows()).toEqual(before.map((row) => ({ ...row, body: null })));
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 0 });
    const until = (await readProgress(db)).bodies_removed_until?.getTime() ?? 0;
    expect(until + testPeriods.RETENTION_BODIES).toBeLessThanOrEqual(Date.now());
  });

  it('of pending deliveries stay, and go when these are done', async () => {
    const past = await old(monthsAgo.pastBodies);
    const [last, ...others] = past.leases;
    await deliverAll(db, others);
    await run();
    const kept = db.selectFrom('events').select('id').where('body', 'is not', null).where('id', 'in', past.eventIds);
    expect(await kept.execute()).toEqual([{ id: last?.event_id }]);
    await deliverAll(db, last === undefined ? [] : [last]);
    await run();
    expect(await kept.execute()).toEqual([]);
  });

  it('stay when their delivery is made pending while the month is copied', async () => {
    const past = await old(monthsAgo.pastBodies);
    await deliverAll(db, past.leases);
    const events = await partitionAt(db, 'events', past);
    await createCopy(db, events);
    // The copying was interrupted after two events, and goes on behind them.
    expect(await copyEvents(db, events, 2)).toBe(2);
    while ((await copyEvents(db, events, 100)) > 0);
    const restarted = past.leases[0];
    await makePending(db, 'deliveries', restarted?.id);
    await replaceByCopy(db, events, 2_000);
    const bodies = db.selectFrom('events').select('id').where('body', 'is not', null).where('id', 'in', past.eventIds);
    expect(await bodies.execute()).toEqual([{ id: restarted?.event_id }]);
    await finishAll(db);
  });

  it('wait for who reads the events for long, and nobody waits for them', async () => {
    const past = await old(monthsAgo.pastBodies);
    await deliverAll(db, past.leases);
    const other = createDatabase({ url, applicationName: 'dump', poolSize: 1 });
    await other.transaction().execute(async (dump) => {
      await keepOpen(dump);
      await sql`select count(*) from events`.execute(dump);
      await sql`select pg_sleep(1.1)`.execute(dump);
      expect((await run())?.isComplete).toBe(false);
      expect(await countRows(db, past.eventIds)).toEqual(whole);
    });
    await other.destroy();
    expect((await run())?.isComplete).toBe(true);
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 0 });
  });

  it('leave partitions like all others, with the parameters of their table', async () => {
    const { rows } = await sql<{ indexes: string; options: string }>`
      select (select string_agg(distinct i.inhparent::regclass::text, ',' order by i.inhparent::regclass::text)
          from pg_index x join pg_inherits i on i.inhrelid = x.indexrelid where x.indrelid = c.oid) as indexes,
        c.reloptions::text as options
      from pg_inherits p join pg_class c on c.oid = p.inhrelid where p.inhparent = 'events'::regclass`.execute(db);
    expect(rows.length).toBeGreaterThan(5);
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1);
    expect(rows[0]?.options).toContain('autovacuum_freeze_min_age=0');
  });
});

describe('a run', () => {
  /** A run whose connection ends before a statement, counted from 1; nothing is sent from there on. */
  const runUntil = (statement: number) => {
    let sent = 0;
    return withRetentionLock({ url, applicationName: 'retention' }, (session) =>
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
    const { rows } = await sql`select relname from pg_class where relname ~ '_(replaced|without_bodies)$'`.execute(db);
    expect(rows).toEqual([]);
    await deliverAll(db, pending.leases);
  });

  it('is one at a time', async () => {
    const second = await withRetentionLock({ url, applicationName: 'retention' }, () => run());
    expect(second).toBeNull();
    expect(await run()).not.toBeNull();
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
    const plan = await planRetention(db, testPeriods);
    expect(plan.find(({ name }) => name === 'audit_log')).toMatchObject({ rows: 1 });
    expect(plan.find(({ name }) => name === 'deleted webhooks')).toMatchObject({ rows: 1 });
    await run();
    expect(await db.selectFrom('audit_log').select('created_at').execute()).toHaveLength(1);
    const left = { webhooks: 'id', webhook_urls: 'webhook_id', webhook_health: 'webhook_id' };
    for (const [table, column] of Object.entries(left)) {
      const { rows } = await sql<{ id: string }>`select ${sql.ref(column)} as id from ${sql.table(table)}
        where ${sql.ref(column)} = any (${[deletedLong, deletedNow, enabled]}::uuid[])`.execute(db);
      expect([table, rows.map(({ id }) => id).sort()]).toEqual([table, [deletedNow, enabled].sort()]);
    }
  });
});
