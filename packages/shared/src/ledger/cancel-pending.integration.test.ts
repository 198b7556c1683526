import { alignPendingDeliveries, insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { newUuid } from '../runtime/ids.ts';
import { cancelPending } from './cancel-pending.ts';
import type { Database } from './database.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

/** A webhook with so many pending deliveries. @returns its id, and theirs in the order of the table */
async function insertPending(
  count: number,
  state: 'deleted' | 'disabled' = 'deleted',
): Promise<{ webhookId: string; ids: string[] }> {
  const organizationId = await insertOrganization(db);
  const webhookId = await insertWebhook(db, { organizationId, state });
  const ids = Array.from({ length: count }, () => newUuid());
  await sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
    select id, ${organizationId}, ${webhookId}, gen_random_uuid(), 'batch.failed', 'pending', 3
    from unnest(${ids}::uuid[]) id`.execute(db);
  await alignPendingDeliveries(db);
  return { webhookId, ids };
}

const statusesOf = async (ids: readonly string[]) => {
  const rows = await db.selectFrom('deliveries').select(['id', 'status']).where('id', 'in', ids).execute();
  return ids.map((id) => rows.find((row) => row.id === id)?.status);
};

describe('canceling what is pending, without waiting for locks,', () => {
  it('reaches what is behind more locked deliveries than its limit', async () => {
    const { webhookId, ids } = await insertPending(10);
    const skipping = { limit: 2, locked: 'skip' } as const;
    await db.transaction().execute(async (other) => {
      const locked = ids.slice(0, 6);
      await sql`select from deliveries where id = any(${locked}::uuid[]) order by id for update`.execute(other);
      expect(await cancelPending(db, [webhookId], skipping)).toBe(2);
      expect(await cancelPending(db, [webhookId], skipping)).toBe(2);
      expect(await cancelPending(db, [webhookId], skipping)).toBe(0);
      expect(await statusesOf(ids)).toEqual([...Array(6).fill('pending'), ...Array(4).fill('canceled')]);
    });
    expect(await cancelPending(db, [webhookId], { limit: 100, locked: 'skip' })).toBe(6);
  });

  it.each(['deleted', 'disabled'] as const)('notes that the webhook was %s', async (state) => {
    const { webhookId, ids } = await insertPending(2, state);
    expect(await cancelPending(db, [webhookId], { limit: null, locked: 'wait' })).toBe(2);
    const rows = await db.selectFrom('deliveries').select('canceled_reason').where('id', 'in', ids).execute();
    expect(rows).toEqual(Array(2).fill({ canceled_reason: `webhook_${state}` }));
  });
});
