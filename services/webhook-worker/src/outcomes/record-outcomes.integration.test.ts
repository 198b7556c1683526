import { countInvariantViolations, createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { openTestDatabase, untilLockWait } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LeaseRow } from '../leases/lease.ts';
import { findAttempts, findDelivery, findHealth, leaseDeliveries, outcomeOf } from '../testing/ledger.ts';
import type { Outcome } from './outcome.ts';
import { recordOutcomes } from './record-outcomes.ts';

let db: Database;
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
});
afterAll(() => close());

async function leaseOne(maxAttempts = 3): Promise<LeaseRow> {
  const { leases } = await leaseDeliveries(db, 1, maxAttempts);
  return leases[0] as LeaseRow;
}

/** PostgreSQL uses a cached plan from the sixth run on. */
async function withCachedPlan(use: (one: Database) => Promise<void>): Promise<void> {
  const one = createDatabase({ url, applicationName: 'test', poolSize: 1 });
  const { leases } = await leaseDeliveries(db, 10);
  for (const lease of leases) await recordOutcomes(one, [outcomeOf(lease, { result: 'delivered' })]);
  await use(one);
  await one.destroy();
}

describe('an outcome', () => {
  it('counts, with all others of its batch, after it waited for a change of its delivery', async () => {
    await withCachedPlan(async (one) => {
      const { leases } = await leaseDeliveries(db, 3);
      const change = await db.startTransaction().execute();
      const canceled = { status: 'canceled' as const, completed_at: new Date() };
      const first = leases[0]?.id ?? '';
      await change.updateTable('deliveries').set(canceled).where('id', '=', first).execute();
      await change.deleteFrom('pending_deliveries').where('delivery_id', '=', first).execute();
      const recorded = recordOutcomes(
        one,
        leases.map((lease) => outcomeOf(lease, { result: 'delivered' })),
      );
      await untilLockWait(db);
      await change.commit().execute();
      await recorded;
      for (const { id } of leases) expect(await findDelivery(db, id)).toMatchObject({ status: 'succeeded' });
    });
  });

  it('completes a delivered delivery', async () => {
    const lease = await leaseOne();
    await recordOutcomes(db, [outcomeOf(lease, { result: 'delivered' })]);
    expect(await findDelivery(db, lease.id)).toMatchObject({
      status: 'succeeded',
      attempt_count: 1,
      next_attempt_at: null,
      last_status_code: 200,
      last_error: null,
      last_duration_ms: 12,
      completed_at: expect.any(Date),
    });
    expect(await findAttempts(db, lease.id)).toMatchObject([{ number: 1, superseded: false, status_code: 200 }]);
  });

  it('schedules the next attempt from the database clock and resets the lease count', async () => {
    const lease = await leaseOne();
    await recordOutcomes(db, [outcomeOf(lease, { delayMs: 60_000 })]);
    const row = await findDelivery(db, lease.id);
    expect(row).toMatchObject({ status: 'pending', attempt_count: 1, lease_count: 0, last_error: 'http_error' });
    expect(Number(row.next_attempt_at) - Date.now()).toBeGreaterThan(30_000);
    expect(Number(row.next_attempt_at) - Date.now()).toBeLessThan(61_000);
  });

  it('fails the delivery with its last attempt, and at once on a stop', async () => {
    const last = await leaseOne(1);
    const gone = await leaseOne();
    await recordOutcomes(db, [outcomeOf(last), outcomeOf(gone, { result: 'stop', statusCode: 410 })]);
    expect(await findDelivery(db, last.id)).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(await findDelivery(db, gone.id)).toMatchObject({ status: 'failed', attempt_count: 1 });
  });

  it.each(['disabled', 'deleted'] as const)(
    'of a webhook that is %s cancels, unless it is a success',
    async (state) => {
      const { leases, webhookId } = await leaseDeliveries(db, 2);
      await db
        .updateTable('webhooks')
        .set({ state, disabled_reason: state === 'disabled' ? 'manual' : null })
        .where('id', '=', webhookId)
        .execute();
      const [failed, delivered] = leases as [LeaseRow, LeaseRow];
      await recordOutcomes(db, [outcomeOf(failed), outcomeOf(delivered, { result: 'delivered' })]);
      const canceled = { status: 'canceled', canceled_reason: `webhook_${state}` };
      expect(await findDelivery(db, failed.id)).toMatchObject(canceled);
      expect(await findDelivery(db, delivered.id)).toMatchObject({ status: 'succeeded', canceled_reason: null });
      // An attempt that was under way all the time.
      await recordOutcomes(db, [outcomeOf(failed, { result: 'delivered', number: 2 })]);
      expect(await findDelivery(db, failed.id)).toMatchObject({ status: 'succeeded', canceled_reason: null });
    },
  );

  it('of an older attempt changes nothing and is kept as superseded', async () => {
    const lease = await leaseOne();
    await recordOutcomes(db, [outcomeOf(lease)]);
    const before = await findDelivery(db, lease.id);
    await recordOutcomes(db, [outcomeOf(lease, { error: 'timeout', statusCode: null })]);
    expect(await findDelivery(db, lease.id)).toEqual(before);
    expect((await findAttempts(db, lease.id)).map((attempt) => attempt.superseded).sort()).toEqual([false, true]);
  });

  it('that is a late success counts, also after the delivery has failed', async () => {
    const lease = await leaseOne(1);
    await recordOutcomes(db, [outcomeOf(lease)]);
    await recordOutcomes(db, [outcomeOf(lease, { result: 'delivered' })]);
    expect(await findDelivery(db, lease.id)).toMatchObject({ status: 'succeeded', attempt_count: 2 });
    expect((await findAttempts(db, lease.id)).map((attempt) => attempt.number)).toEqual([1, 2]);
  });

  it('that is a success is kept on the row of its delivery, all others in rows of their own', async () => {
    const lease = await leaseOne();
    await recordOutcomes(db, [outcomeOf(lease)]);
    const outcome = outcomeOf(lease, {
      number: 2,
      result: 'delivered',
      manual: true,
      excerpt: 'ok',
      webhookVersion: 4,
    });
    await recordOutcomes(db, [outcome]);
    expect(await db.selectFrom('attempts').select('number').where('delivery_id', '=', lease.id).execute()).toEqual([
      { number: 1 },
    ]);
    const [, delivering] = await findAttempts(db, lease.id);
    expect(delivering).toEqual({
      delivery_id: lease.id,
      id: outcome.attemptId,
      number: 2,
      round: 0,
      superseded: false,
      manual: true,
      recorded_at: expect.any(Date),
      remote_address: null,
      response_headers: null,
      started_at: outcome.startedAt,
      duration_ms: 12,
      status_code: 200,
      error: null,
      error_message: null,
      webhook_version: 4,
      excerpt: 'ok',
      ...outcome.timings,
    });
  });

  it('of an older round changes nothing', async () => {
    const lease = await leaseOne();
    await db.updateTable('deliveries').set({ round: 1 }).where('id', '=', lease.id).execute();
    await db.updateTable('pending_deliveries').set({ round: 1 }).where('delivery_id', '=', lease.id).execute();
    await recordOutcomes(db, [outcomeOf(lease, { result: 'delivered' })]);
    expect(await findDelivery(db, lease.id)).toMatchObject({ status: 'pending', attempt_count: 0 });
  });

  it.each(['retry', 'delivered'] as const)(
    'written twice, as when the answer to a commit is lost, changes nothing more (%s)',
    async (result) => {
      const [lease, other] = (await leaseDeliveries(db, 2)).leases as [LeaseRow, LeaseRow];
      const outcome = outcomeOf(lease, { result });
      await recordOutcomes(db, [outcome]);
      const row = await findDelivery(db, lease.id);
      // Another one fails: a success that counts twice would show in the health.
      await recordOutcomes(db, [outcomeOf(other)]);
      const health = await findHealth(db, lease.webhook_id);
      await recordOutcomes(db, [outcome]);
      expect(await findDelivery(db, lease.id)).toEqual(row);
      expect(await findAttempts(db, lease.id)).toHaveLength(1);
      expect(await findHealth(db, lease.webhook_id)).toEqual(health);
    },
  );

  it('written again while its first writing is not over is there once', async () => {
    const lease = await leaseOne();
    const outcome = outcomeOf(lease, { result: 'delivered' });
    const written = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    const first = db.transaction().execute(async (trx) => {
      await recordOutcomes(trx, [outcome]);
      written.resolve();
      await committed.promise;
    });
    await written.promise;
    const second = recordOutcomes(db, [outcome]);
    await untilLockWait(db);
    committed.resolve();
    await Promise.all([first, second]);
    expect(await findAttempts(db, lease.id)).toMatchObject([{ id: outcome.attemptId, superseded: false }]);
  });

  it('is recorded when the lease is extended meanwhile', async () => {
    const { leases } = await leaseDeliveries(db, 2);
    const [again, done] = leases as [LeaseRow, LeaseRow];
    const written = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    const extension = db.transaction().execute(async (trx) => {
      await trx
        .updateTable('pending_deliveries')
        .set({ next_attempt_at: new Date(Date.now() + 90_000) })
        .execute();
      written.resolve();
      await committed.promise;
    });
    await written.promise;
    const outcomes = [outcomeOf(again, { delayMs: 600_000 }), outcomeOf(done, { result: 'delivered' })];
    const recorded = recordOutcomes(db, outcomes);
    await untilLockWait(db);
    committed.resolve();
    await Promise.all([extension, recorded]);
    const row = await findDelivery(db, again.id);
    expect(row).toMatchObject({ status: 'pending', attempt_count: 1, lease_count: 0 });
    expect(Number(row.next_attempt_at) - Date.now()).toBeGreaterThan(500_000);
    expect(await findDelivery(db, done.id)).toMatchObject({ status: 'succeeded', next_attempt_at: null });
  });

  it('that is a second success beside the one that counts is kept as superseded, in one batch and in two', async () => {
    const lease = await leaseOne();
    const [first, second] = [1, 2].map((number) => outcomeOf(lease, { number, result: 'delivered' })) as [
      Outcome,
      Outcome,
    ];
    for (const batch of [[first], [first, second], [second]]) await recordOutcomes(db, batch);
    const attempts = (await findAttempts(db, lease.id)).map(({ id, superseded }) => ({ id, superseded }));
    expect(attempts).toEqual([
      { id: first.attemptId, superseded: false },
      { id: second.attemptId, superseded: true },
    ]);
  });
});

describe('any order of outcomes', () => {
  it('ends in one state: succeeded if one succeeded, and consistent rows in every case', async () => {
    const attempts = fc.array(
      fc.record({ number: fc.integer({ min: 1, max: 3 }), delivered: fc.boolean(), together: fc.boolean() }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(attempts, async (plan) => {
        const lease = await leaseOne();
        const outcomes = plan.map(({ number, delivered }) =>
          outcomeOf(lease, { number, result: delivered ? 'delivered' : 'retry' }),
        );
        for (const batch of batches(outcomes, plan)) await recordOutcomes(db, batch);
        const row = await findDelivery(db, lease.id);
        expect(row.status === 'succeeded').toBe(plan.some((attempt) => attempt.delivered));
        expect(await findAttempts(db, lease.id)).toHaveLength(plan.length);
        expect(await countInvariantViolations(db, 10)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('does not deadlock when many processes write the same deliveries', async () => {
    const { leases } = await leaseDeliveries(db, 50);
    const writers = Array.from({ length: 8 }, (_, writer) =>
      recordOutcomes(
        db,
        [...leases]
          .sort(() => (writer % 2 === 0 ? 1 : -1))
          .map((lease) => outcomeOf(lease, { result: writer === 7 ? 'delivered' : 'retry' })),
      ),
    );
    await Promise.all(writers);
    const statuses = await db
      .selectFrom('deliveries')
      .select('status')
      .where(
        'id',
        'in',
        leases.map((lease) => lease.id),
      )
      .execute();
    expect(new Set(statuses.map((row) => row.status))).toEqual(new Set(['succeeded']));
    expect(await countInvariantViolations(db, 100)).toBe(0);
  });
});

function batches(outcomes: Outcome[], plan: { together: boolean }[]): Outcome[][] {
  const result: Outcome[][] = [];
  outcomes.forEach((outcome, index) => {
    const last = result.at(-1);
    if (plan[index]?.together && last) last.push(outcome);
    else result.push([outcome]);
  });
  return result;
}
