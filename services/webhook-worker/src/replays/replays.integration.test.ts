import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { leaseDeliveries, outcomeOf } from '../testing/ledger.ts';
import { createReplayLoop } from './replays.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

it('several workers count a running replay, and complete it once its last delivery has ended', async () => {
  const { organizationId, webhookId, leases } = await leaseDeliveries(db, 3, 1);
  const [last, ...others] = leases;
  const id = newUuid();
  const about = { id, organization_id: organizationId, webhook_id: webhookId, matched: 3, pending: 3 };
  const list = { delivery_ids: leases.map((lease) => lease.id), rounds: [0, 0, 0] };
  await db
    .insertInto('replays')
    .values({ ...about, ...list, rate_per_second: null })
    .execute();
  const find = () => db.selectFrom('replays').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const loops = [0, 1].map(() => createReplayLoop(db, (error) => expect(error).toBeUndefined()));
  for (const loop of loops) loop.start();
  const results = ['delivered', 'retry'] as const;
  await recordOutcomes(
    db,
    others.map((lease, nth) => outcomeOf(lease, { result: results[nth] ?? 'retry' })),
  );
  const counted = await until('the counts', find, { holds: ({ pending }) => pending === 1 });
  expect(counted).toMatchObject({ state: 'running', succeeded: 1, failed: 1, canceled: 0, completed_at: null });
  if (last !== undefined) await recordOutcomes(db, [outcomeOf(last, { result: 'delivered' })]);
  const completed = await until('the end', find, { holds: ({ state }) => state === 'completed' });
  expect(completed).toMatchObject({ pending: 0, succeeded: 2, failed: 1, canceled: 0, delivery_ids: null });
  const { rows: finished } = await sql<{ body: string }>`
    select body from events e join event_bodies b on b.event_id = e.id where e.type = 'replay.finished'`.execute(db);
  expect(finished.map(({ body }) => JSON.parse(body).data)).toEqual([
    {
      organization_name: 'Test organization',
      replay: {
        id: toPublicId('rpl', id),
        webhook_id: toPublicId('whk', webhookId),
        matched: 3,
        succeeded: 2,
        failed: 1,
        canceled: 0,
      },
      completed_at: completed.completed_at?.toISOString(),
      help_url: '/docs/operational-events',
    },
  ]);
  for (const loop of loops) await loop.stop();
});
