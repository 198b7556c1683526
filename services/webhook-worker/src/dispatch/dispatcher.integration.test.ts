import type { Database } from '@enterprise-api/shared/ledger';
import { systemClock } from '@enterprise-api/shared/runtime';
import { insertOrganization, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { Capacity } from '../pipeline/types.ts';
import { leaseDeliveries, plenty } from '../testing/ledger.ts';
import { createDispatcher } from './dispatcher.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

it('a walk that its limit cut short says nothing about the webhooks that it did not visit', async () => {
  const sets = [await leaseDeliveries(db, 4), await leaseDeliveries(db, 4), await leaseDeliveries(db, 4)];
  await sql`update pending_deliveries set next_attempt_at = now() - interval '1 s'`.execute(db);
  const webhookIds = sets.map((set) => set.webhookId).sort();
  const capacity: Capacity = { ...plenty, webhookIds, free: [3, 3, 3], busy: [0, 0, 0], ofNewQueue: 3, total: 3 };
  const drained: string[] = [];
  const walked = Promise.withResolvers<void>();
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
      noteNoneDue: (ids) => void drained.push(...ids),
    },
    leaseLoader: {
      accept: async () => {
        runs += 1;
        if (runs === 2) walked.resolve();
      },
    },
    leaseMs: 45_000,
    mayLease: () => runs < 2,
    onNotEnabled: () => undefined,
    onDispatched: () => undefined,
    onError: (error) => walked.reject(error),
  });
  dispatcher.start();
  await walked.promise;
  await dispatcher.stop();
  expect(drained).not.toContain(webhookIds[0]);
});

it('what a run says about webhooks with nothing due is as of its beginning: more may have become due meanwhile', async () => {
  const { webhookId } = await leaseDeliveries(db, 1);
  let now = 1;
  const drained = Promise.withResolvers<{ ids: string[]; askedAt: number }>();
  const dispatcher = createDispatcher({
    db,
    clock: { now: Date.now, monotonic: () => now },
    scheduler: {
      startEligible: () => undefined,
      forgetIdle: () => undefined,
      capacity: () => ({ ...plenty, webhookIds: [webhookId], free: [3], busy: [0], ofNewQueue: 3, total: 3 }),
      noteDueRows: () => undefined,
      noteNoneDue: (ids, askedAt) => drained.resolve({ ids: [...ids], askedAt }),
    },
    leaseLoader: { accept: async () => undefined },
    leaseMs: 45_000,
    mayLease: () => true,
    onNotEnabled: () => undefined,
    // The statement has been answered.
    onDispatched: () => {
      now = 2;
    },
    onError: (error) => drained.reject(error),
  });
  dispatcher.start();
  const { ids, askedAt } = await drained.promise;
  await dispatcher.stop();
  expect([ids, askedAt]).toEqual([[webhookId], 1]);
});

describe('with more due than a run looks at', () => {
  const webhooks = 1_200;
  let organizationId: string;

  beforeAll(async () => {
    await sql`truncate pending_deliveries`.execute(db);
    organizationId = await insertOrganization(db);
    await sql`insert into webhooks (id, organization_id, url, event_patterns, secret_sealed)
      select gen_random_uuid(), ${organizationId}, 'https://example.com', '{*}', '' from generate_series(1, ${webhooks}::int)`.execute(
      db,
    );
  });

  /** The webhooks that the first runs of a new process serve, each by its number in the order of their ids. */
  async function servedBy(runs: number): Promise<number[][]> {
    await sql`delete from pending_deliveries`.execute(db);
    await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
      select gen_random_uuid(), id, ${organizationId}, gen_random_uuid(), 'batch.failed', now() - random() * interval '9 s', 3
      from webhooks where organization_id = ${organizationId}`.execute(db);
    const { rows } = await sql<{ id: string }>`
      select id from webhooks where organization_id = ${organizationId} order by id`.execute(db);
    const numbers = new Map(rows.map(({ id }, number) => [id, number]));
    const served: number[][] = [];
    const done = Promise.withResolvers<void>();
    const dispatcher = createDispatcher({
      db,
      clock: systemClock,
      scheduler: { ...unconcerned, capacity: () => ({ ...plenty, total: 5 }) },
      leaseLoader: {
        accept: async (leases) => {
          served.push(leases.map(({ webhook_id }) => numbers.get(webhook_id) ?? -1).sort((a, b) => a - b));
          if (served.length === runs) done.resolve();
        },
      },
      leaseMs: 45_000,
      mayLease: () => served.length < runs,
      onNotEnabled: () => undefined,
      onDispatched: () => undefined,
      onError: (error) => done.reject(error),
    });
    dispatcher.start();
    await done.promise;
    await dispatcher.stop();
    return served;
  }

  it('each process goes on from a place of its own, and from there on in the order of the webhooks', async () => {
    const places = new Set<number>();
    for (let process = 0; process < 3; process++) {
      const [first, second, third] = await servedBy(3);
      expect(first).toEqual([0, 1, 2, 3, 4]);
      const place = second?.[0] ?? Number.NaN;
      places.add(place);
      // At the end of the order a run goes on from its beginning.
      const next = place < webhooks - 10 ? third?.[0] : place + 5;
      expect(next).toBe(place + 5);
    }
    // By chance two processes could begin at the same place, but hardly all three behind the first run.
    expect([...places]).not.toEqual([5]);
  });
});

const unconcerned = {
  startEligible: () => undefined,
  forgetIdle: () => undefined,
  noteDueRows: () => undefined,
  noteNoneDue: () => undefined,
};
