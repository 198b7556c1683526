import { type Database, ensurePartitions, startOfMonth } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { type DeliveryFilter, listDeliveries } from './queries.ts';

const months = 27;
const perMonth = 120;
const hourMs = 3_600_000;
const now = Date.now();
/** The beginning of the month that was so many months ago. */
const monthAgo = (count: number) => startOfMonth(now, -count);

let db: Database;
let close: () => Promise<void>;
let organizationId: Uuid;
let webhookIds: Uuid[];

beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  for (let back = 0; back < months - 3; back++) await ensurePartitions(db, new Date(monthAgo(back)), 0);
  organizationId = await insertOrganization(db);
  const stranger = await insertOrganization(db);
  webhookIds = [await insertWebhook(db, { organizationId }), await insertWebhook(db, { organizationId })];
  await sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, created_at, completed_at)
    select ${idAt(sql`at`, sql`n`)}, owner, (${webhookIds}::uuid[])[1 + n % 2], gen_random_uuid(),
      case when n % 3 = 1 then 'batch.failed' else 'consultation.completed' end,
      case when n % 4 = 1 then 'failed' else 'succeeded' end, 3, at, at
    from generate_series(1, ${perMonth * (months - 3)}::int) n,
      unnest(array[${organizationId}, ${stranger}]::uuid[]) owner, lateral (
        select ${new Date(monthAgo(months - 4))}::timestamptz
          + n * (${new Date(now)}::timestamptz - ${new Date(monthAgo(months - 4))}::timestamptz) / ${perMonth * (months - 3)}::int as at) t`.execute(
    db,
  );
  // Events of the last hour of each month, with deliveries of the first day of the next.
  for (let back = 1; back < 20; back++) await insertAt(monthAgo(back) - hourMs, monthAgo(back) + 20 * hourMs);
  await sql`analyze deliveries`.execute(db);
});
afterAll(async () => {
  await close();
});

/** An id of a delivery whose event is of this time; `n` tells it from others. */
const idAt = (at: ReturnType<typeof sql>, n: ReturnType<typeof sql>) =>
  sql`(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '8000' || '8' || substr(md5(${n}::text || owner::text), 1, 15))::uuid`;

/** A delivery of the organization, of an event of one time, that is written at another. */
async function insertAt(eventMs: number, createdMs: number): Promise<void> {
  await sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, created_at, completed_at)
    select ${idAt(sql`${new Date(eventMs)}::timestamptz`, sql`${createdMs}::float8`)}, owner, ${webhookIds[0]}, gen_random_uuid(), 'batch.failed', 'failed', 3,
      ${new Date(createdMs)}, now() from (select ${organizationId}::uuid as owner) o`.execute(db);
}

const page: PageQuestion = { after: null, limit: 21, order: 'desc' };
const listed = async (question: PageQuestion, filter: DeliveryFilter = {}) =>
  (await listDeliveries(db, organizationId, question, filter)).map(({ id }) => id);

/** All ids of the organization in the order of a list, without looking at partitions. */
async function everyId(order: 'asc' | 'desc', since = new Date(0)): Promise<Uuid[]> {
  const { rows } = await sql<{ id: Uuid }>`
    select id from deliveries where organization_id = ${organizationId} and created_at >= ${since}::timestamptz
    order by created_at ${sql.raw(order)}, id ${sql.raw(order)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Every page of a list, one behind the other. */
async function everyPage(order: 'asc' | 'desc', filter: DeliveryFilter = {}): Promise<Uuid[]> {
  const ids: Uuid[] = [];
  let after: PageQuestion['after'] = null;
  for (;;) {
    const rows = await listDeliveries(db, organizationId, { order, after, limit: 100 }, filter);
    ids.push(...rows.map(({ id }) => id));
    const last = rows.at(-1);
    if (rows.length < 100 || last === undefined) return ids;
    after = { sortKey: last.position, id: last.id };
  }
}

describe('with 27 months', () => {
  it('its pages have each delivery once, in order, newest and oldest first', async () => {
    const since = new Date(monthAgo(9) + 36 * hourMs);
    for (const order of ['asc', 'desc'] as const) {
      expect(await everyPage(order)).toEqual(await everyId(order));
      expect(await everyPage(order, { since })).toEqual(await everyId(order, since));
    }
  });

  it.each([40, 450])(
    'an event that was fanned out %d days late has its delivery on the first page and within its period',
    async (days) => {
      const createdMs = now - hourMs;
      const eventMs = createdMs - days * 24 * hourMs;
      await insertAt(eventMs, createdMs);
      const [expected] = (await everyId('desc')).filter((id) => id.startsWith(idPrefix(eventMs)));
      expect(expected).toBeDefined();
      expect(await listed(page)).toContain(expected);
      expect(await listed(page, { since: new Date(createdMs) })).toContain(expected);
      expect(await listed(page, { statuses: ['failed'], webhookId: webhookIds[0] })).toContain(expected);
      for (const order of ['asc', 'desc'] as const) expect(await everyPage(order)).toEqual(await everyId(order));
    },
  );
});

/** What ids of this millisecond begin with. */
const idPrefix = (ms: number) =>
  ms
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-');
