import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import { databaseTime, ensurePartitions, partitionName, uuidAtTime } from '@enterprise-api/shared/ledger';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { testEvent } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

/** Events of the middle of a month, so many months ago, and that month. */
async function emitOld(
  monthsAgo: number,
  count: number,
): Promise<{ ids: string[]; month: { from: Date; until: Date } }> {
  const now = await databaseTime(api.db);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - monthsAgo];
  const at = new Date(Date.UTC(year, month, 15));
  await ensurePartitions(api.db, at, 1);
  const events = Array.from({ length: count }, () => newEvent(testEvent(organizationId), at.getTime()));
  const written = await writeEvents(api.db, events);
  const span = { from: new Date(Date.UTC(year, month, 1)), until: new Date(Date.UTC(year, month + 1, 1)) };
  // Events of one statement get their positions in the order of their ids.
  return { ids: written.map(({ id }) => toPublicId('evt', id)).sort(), month: span };
}

/** What retention leaves when it has removed the bodies of a month. */
async function removeBodies({ from, until }: { from: Date; until: Date }): Promise<void> {
  const [first, end] = [uuidAtTime(from.getTime()), uuidAtTime(until.getTime())];
  await sql`delete from event_bodies where event_id >= ${first}::uuid and event_id < ${end}::uuid`.execute(api.db);
  await sql`update retention_progress set bodies_removed_until = ${until}`.execute(api.db);
}

const list = (query: string) => api.call('get', `/v1/events?${query}`, key);
const stream = (query: string) => api.call('get', `/v1/events/stream?${query}`, key);

describe('between the retention of bodies and that of the history', () => {
  it('events have null for their data, alone and in lists of both orders', async () => {
    const { ids, month } = await emitOld(2, 3);
    const { ids: young } = await emitOld(0, 1);
    const before = (await list('order=asc').expect(200)).body.data;
    await removeBodies(month);
    const { body } = await api.call('get', `/v1/events/${ids[0]}`, key).expect(200);
    expect(body).toEqual({ ...before[0], data: null });
    for (const order of ['asc', 'desc']) {
      const { data } = (await list(`order=${order}`).expect(200)).body;
      const found = order === 'asc' ? data : data.toReversed();
      expect(found.map(({ id }: { id: string }) => id)).toEqual([...ids, ...young]);
      expect(found.map(({ data: shown }: { data: unknown }) => shown === null)).toEqual([true, true, true, false]);
    }
    const page = (await list('order=asc&limit=2').expect(200)).body;
    const next = (await list(`order=asc&limit=2&cursor=${page.next_cursor}`).expect(200)).body;
    expect(next.data.map(({ id }: { id: string }) => id)).toEqual([ids[2], ...young]);
  });

  it('a stream begins behind no such event: 410, because it sends bodies', async () => {
    const { ids, month } = await emitOld(2, 1);
    await removeBodies(month);
    const [id] = ids;
    expect((await stream(`after=${id}`).expect(410)).body.error.code).toBe('event_expired');
    const named = await api.call('get', '/v1/events/stream', key).set('Last-Event-ID', String(id)).expect(410);
    expect(named.body.error.code).toBe('event_expired');
  });
});

describe('past the retention of the history', () => {
  it('an event is 404, and 410 to begin behind; a list newest first ends, and one oldest first is 410', async () => {
    const { ids, month } = await emitOld(5, 3);
    const cursorOf = async (order: string) => (await list(`order=${order}&limit=1`).expect(200)).body.next_cursor;
    const [oldestFirst, newestFirst] = [await cursorOf('asc'), await cursorOf('desc')];
    await list(`order=asc&cursor=${oldestFirst}`).expect(200);
    const { rows } = await sql<{ name: string }>`
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'events'::regclass
        and c.relname <= ${partitionName('events', month.from.getTime())}`.execute(api.db);
    for (const { name } of rows) await sql`drop table ${sql.table(name)}`.execute(api.db);
    await api.call('get', `/v1/events/${ids[0]}`, key).expect(404);
    expect((await stream(`after=${ids[0]}`).expect(410)).body.error.code).toBe('event_expired');
    expect((await list(`order=asc&cursor=${oldestFirst}`).expect(410)).body.error.code).toBe('event_expired');
    expect((await list(`order=desc&cursor=${newestFirst}`).expect(200)).body.data).toEqual([]);
    expect((await list('order=asc').expect(200)).body.data).toEqual([]);
  });
});
