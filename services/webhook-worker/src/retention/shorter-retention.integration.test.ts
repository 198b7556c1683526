import { newEvent, testRows } from '@enterprise-api/shared/events';
import { countInvariantViolations, type Database } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from '../dispatch/queries.ts';
import { fanOutEvents } from '../fan-out/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { emitEvents, outcomeOf, plenty } from '../testing/ledger.ts';
import { applyShorterRetentions } from './shorter-retention.ts';

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
});

const emit = (count: number) => emitEvents(db, organizationId, count);
const keepFor = (seconds: number | null, id = organizationId) =>
  db.updateTable('organizations').set({ body_retention_seconds: seconds }).where('id', '=', id).execute();

async function fanOut(ids: readonly string[]): Promise<LeaseRow[]> {
  return (await fanOutEvents(db, ids, plenty, { leaseMs: 45_000, maxAttempts: 3 })).leases;
}

const answered = { remoteAddress: '192.0.2.1', responseHeaders: { server: 'nginx' } };

/** The first attempt of each fails, the second delivers; the receiver answers both with a text. */
async function deliver(leases: readonly LeaseRow[]): Promise<void> {
  await recordOutcomes(
    db,
    leases.map((lease) => outcomeOf(lease, { excerpt: 'answer', ...answered })),
  );
  await recordOutcomes(
    db,
    leases.map((lease) => outcomeOf(lease, { result: 'delivered', number: 2, excerpt: 'answer' })),
  );
}

const run = () => applyShorterRetentions(db, new AbortController().signal);

async function whatIsLeft(ids: readonly string[]) {
  const { rows } = await sql<{ bodies: number; answers: number; attempts: number }>`
    select (select count(*) from event_bodies where event_id = any (${ids}::uuid[])) as bodies,
      count(a.excerpt) + count(a.remote_address) + count(a.response_headers) as answers, count(*) as attempts
    from deliveries d join all_attempts a on a.delivery_id = d.id where d.event_id = any (${ids}::uuid[])`.execute(db);
  return rows[0];
}

describe('a shorter retention', () => {
  it('removes data and answers of what has ended, and leaves the rest and other organizations alone', async () => {
    const ids = await emit(3);
    await deliver(await fanOut(ids));
    await run();
    expect(await whatIsLeft(ids)).toEqual({ bodies: 3, answers: 12, attempts: 6 });
    const other = organizationId;
    organizationId = await insertOrganization(db);
    await insertWebhook(db, { organizationId });
    const own = await emit(3);
    await deliver(await fanOut(own));
    await keepFor(0);
    await run();
    expect(await whatIsLeft(own)).toEqual({ bodies: 0, answers: 0, attempts: 6 });
    expect(await whatIsLeft(ids)).toEqual({ bodies: 3, answers: 12, attempts: 6 });
    const rows = await db.selectFrom('events').select('erased_at').where('id', 'in', own).execute();
    expect(rows).toEqual(Array(3).fill({ erased_at: null }));
    expect(other).not.toBe(organizationId);
    expect(await countInvariantViolations(db, 1_000)).toBe(0);
  });

  it('removes the bodies of tests that were made before it', async () => {
    const [webhook] = await db
      .selectFrom('webhooks')
      .select('id')
      .where('organization_id', '=', organizationId)
      .execute();
    const test = newEvent(testEvent(organizationId), Date.now(), { test: true });
    await sql`with ${testRows(webhook?.id ?? '', test, { maxAttempts: 1, manual: true })} select from written`.execute(
      db,
    );
    const page = { cursor: nilUuid, visit: 100, rows: 100, from: null };
    await deliver((await leaseDueDeliveries(db, page, plenty, 45_000)).leases);
    await keepFor(0);
    await run();
    expect(await whatIsLeft([test.id])).toEqual({ bodies: 0, answers: 0, attempts: 2 });
  });

  it('keeps no answer to an attempt that ends after the removal', async () => {
    const ids = await emit(1);
    const leases = await fanOut(ids);
    await deliver(leases);
    await keepFor(0);
    await run();
    const late = leases.map((lease) => outcomeOf(lease, { number: 3, excerpt: 'answer', ...answered }));
    await recordOutcomes(db, late);
    expect(await whatIsLeft(ids)).toEqual({ bodies: 0, answers: 0, attempts: 3 });
  });

  it('waits for the end of deliveries, for a fan-out, and for the time', async () => {
    await keepFor(0);
    const [pending, waiting] = [await emit(2), await emit(1)];
    const leases = await fanOut(pending);
    await deliver(leases.slice(1));
    await run();
    expect(await whatIsLeft(pending)).toMatchObject({ bodies: 1, attempts: 2 });
    expect(await whatIsLeft(waiting)).toMatchObject({ bodies: 1 });
    await deliver(leases.slice(0, 1));
    await deliver(await fanOut(waiting));
    await keepFor(3_600);
    const young = await emit(1);
    await deliver(await fanOut(young));
    await run();
    expect(await whatIsLeft(young)).toMatchObject({ bodies: 1 });
    await sql`update events set created_at = created_at - interval '1 hour' where id = any (${[...pending, ...waiting]}::uuid[])`.execute(
      db,
    );
    await run();
    expect(await whatIsLeft([...pending, ...waiting])).toMatchObject({ bodies: 0, answers: 0 });
    expect(await whatIsLeft(young)).toMatchObject({ bodies: 1 });
    expect(await countInvariantViolations(db, 1_000)).toBe(0);
  });

  it('misses no event whose transaction commits late, and removes more than one batch at a time', async () => {
    await keepFor(0);
    let late: string[] = [];
    await db.transaction().execute(async (long) => {
      late = await emitEvents(long as Database, organizationId, 1);
      const ids = await emit(1);
      await deliver(await fanOut(ids));
      await run();
    });
    const many = await emit(1_100);
    await sql`delete from outbox where event_id = any (${many}::uuid[])`.execute(db);
    await deliver(await fanOut(late));
    await run();
    expect(await whatIsLeft([...late, ...many])).toMatchObject({ bodies: 0 });
    const left = await db.selectFrom('bodies_to_remove').selectAll().execute();
    expect(left.filter((row) => row.organization_id === organizationId)).toEqual([]);
  });

  it('does not wait for an open transaction that writes events of another organization', async () => {
    await keepFor(0);
    let stranger = organizationId;
    while (stranger.slice(-3) === organizationId.slice(-3)) stranger = await insertOrganization(db);
    await db.transaction().execute(async (long) => {
      await emitEvents(long as Database, stranger, 1);
      const ids = await emit(1);
      await deliver(await fanOut(ids));
      await run();
      expect(await whatIsLeft(ids)).toMatchObject({ bodies: 0, answers: 0 });
    });
  });

  it('leaves the body of a delivery that a retry makes pending meanwhile', async () => {
    const ids = await emit(1);
    const [lease] = (await fanOut(ids)) as [LeaseRow];
    await deliver([lease]);
    await keepFor(0);
    let done = false;
    let running = Promise.resolve();
    await db.transaction().execute(async (retry) => {
      await sql`select from event_bodies where event_id = ${ids[0]} for share`.execute(retry);
      running = run().then(() => {
        done = true;
      });
      await until('the removal waits for the retry', async () => {
        const { rows } = await sql`select from pg_locks where not granted`.execute(db);
        return rows.length > 0;
      });
      await sql`update deliveries set status = 'pending', completed_at = null, round = 1 where id = ${lease.id}`.execute(
        retry,
      );
      await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts, round)
        select id, webhook_id, organization_id, event_id, event_type, now(), max_attempts, round from deliveries where id = ${lease.id}`.execute(
        retry,
      );
      expect(done).toBe(false);
    });
    await running;
    expect(await whatIsLeft(ids)).toMatchObject({ bodies: 1 });
  });
});
