import type { Database } from '@enterprise-api/shared/ledger';
import { systemClock } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
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

type Note = { ids: string[]; due: boolean };

it('a walk that its limit cut short says nothing about the webhooks that it did not visit', async () => {
  const sets = [await leaseDeliveries(db, 4), await leaseDeliveries(db, 4), await leaseDeliveries(db, 4)];
  await sql`update pending_deliveries set next_attempt_at = now() - interval '1 s'`.execute(db);
  const webhookIds = sets.map((set) => set.webhookId).sort();
  const capacity: Capacity = { ...plenty, webhookIds, free: [3, 3, 3], busy: [0, 0, 0], ofNewQueue: 3, total: 3 };
  const notes: Note[] = [];
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
      noteDueRows: (ids, due) => notes.push({ ids: [...ids], due }),
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
  expect(notes.filter((note) => !note.due).flatMap((note) => note.ids)).not.toContain(webhookIds[0]);
});
