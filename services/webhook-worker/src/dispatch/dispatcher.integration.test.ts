import type { Database } from '@enterprise-api/shared/ledger';
import { systemClock } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createWorkerMetrics } from '../metrics.ts';
import type { Capacity } from '../scheduler/scheduler.ts';
import { leaseDeliveries, plenty } from '../testing/ledger.ts';
import { createDispatcher } from './dispatcher.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

it('a run that its limit cut short says nothing about the webhooks that it did not visit', async () => {
  const sets = [await leaseDeliveries(db, 4), await leaseDeliveries(db, 4), await leaseDeliveries(db, 4)];
  await sql`update pending_deliveries set next_attempt_at = now() - interval '1 s'`.execute(db);
  const webhookIds = sets.map((set) => set.webhookId).sort();
  const capacity: Capacity = { ...plenty, webhookIds, free: [3, 3, 3], busy: [0, 0, 0], ofNewQueue: 3, total: 3 };
  const drained: string[] = [];
  const done = Promise.withResolvers<void>();
  let runs = 0;
  const dispatcher = createDispatcher({
    db,
    clock: systemClock,
    scheduler: {
      startEligible: () => undefined,
      forgetIdle: () => undefined,
      // The first run ends behind the first webhook; the second begins there and sees the two others.
      capacity: () => ({ ...capacity, total: runs === 0 ? 3 : 100 }),
      noteDueRows: () => undefined,
      noteLimited: () => undefined,
      noteNoneDue: (ids) => void drained.push(...ids),
    },
    leaseLoader: {
      accept: async () => {
        runs += 1;
        if (runs === 2) done.resolve();
      },
    },
    leaseMs: 45_000,
    mayLease: () => runs < 2,
    cancellation: { start: () => undefined },
    metrics: createWorkerMetrics(undefined),
    onError: (error) => done.reject(error),
  });
  dispatcher.start();
  await done.promise;
  await dispatcher.stop();
  expect(drained).not.toContain(webhookIds[0]);
});

it('a run reports the webhooks that had nothing due when it began, because more may have become due since', async () => {
  const { webhookId } = await leaseDeliveries(db, 1);
  let now = 1;
  const drained = Promise.withResolvers<{ ids: string[]; askedAt: number }>();
  const metrics = createWorkerMetrics(undefined);
  // The statement has been answered.
  metrics.deliveriesDispatched.inc = () => {
    now = 2;
  };
  const dispatcher = createDispatcher({
    db,
    clock: { now: Date.now, monotonic: () => now },
    scheduler: {
      startEligible: () => undefined,
      forgetIdle: () => undefined,
      capacity: () => ({ ...plenty, webhookIds: [webhookId], free: [3], busy: [0], ofNewQueue: 3, total: 3 }),
      noteDueRows: () => undefined,
      noteLimited: () => undefined,
      noteNoneDue: (ids, askedAt) => drained.resolve({ ids: [...ids], askedAt }),
    },
    leaseLoader: { accept: async () => undefined },
    leaseMs: 45_000,
    mayLease: () => true,
    cancellation: { start: () => undefined },
    metrics,
    onError: (error) => drained.reject(error),
  });
  dispatcher.start();
  const { ids, askedAt } = await drained.promise;
  await dispatcher.stop();
  expect([ids, askedAt]).toEqual([[webhookId], 1]);
});
