import { fromPublicId } from '@enterprise-api/shared/runtime';
import { sendRequest } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLists, type List, listNames } from '../../testing/lists.ts';
import { insertDelivery } from '../../testing/rows.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookIds: string[];
let lists: Record<(typeof listNames)[number], List>;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_RATE_LIMITS: 'enterprise=1000000' } });
  const made = await api.createKey();
  key = made.secret;
  organizationId = made.organization_id;
  webhookIds = [(await api.createWebhook(key)).id, (await api.createWebhook(key)).id];
  lists = createLists(api.db, { organizationId, webhookId: webhookIds[0] as string });
});
afterAll(() => api.stop());

async function page(list: List, query: string) {
  const url = `${list.internal ? api.internalUrl : api.publicUrl}${list.path}?${query}`;
  const headers = { Authorization: `Bearer ${list.internal ? api.internalSecret : key}` };
  const { status, body } = await sendRequest({ method: 'GET', url, headers });
  expect(status).toBe(200);
  return body as { data: { id: string }[]; has_more: boolean; next_cursor: string | null };
}

const uuidOf = (publicId: string) => fromPublicId(publicId.slice(0, 3), publicId) as string;

/** Walks a whole list, with something happening between its pages. */
async function walk(list: List, limit: number, meanwhile: () => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const { data, has_more, next_cursor } = await page(list, `limit=${limit}${cursor}`);
    seen.push(...data.map(({ id }) => uuidOf(id)));
    expect(next_cursor !== null).toBe(has_more);
    if (next_cursor === null) return seen;
    expect(data).toHaveLength(limit);
    cursor = `&cursor=${next_cursor}`;
    await meanwhile();
  }
}

describe.each(listNames)('a walk over %s', (name) => {
  let list: List;
  beforeAll(() => {
    list = lists[name];
  });

  it('returns every row that existed throughout exactly once, and no row twice, while rows are inserted and deleted', async () => {
    const hour = Date.UTC(2026, 10, 1);
    const happening = fc.record({ ms: fc.integer({ min: 0, max: 5 }), removes: fc.nat({ max: 30 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(happening, { maxLength: 6 }),
        async (times, limit, happenings) => {
          const there: string[] = [];
          for (const ms of times) there.push(await list.insert(new Date(hour + ms)));
          const added: string[] = [];
          const removed = new Set<string>();
          const meanwhile = async () => {
            const happens = happenings.pop();
            if (happens === undefined) return;
            added.push(await list.insert(new Date(hour + happens.ms)));
            const victim = there[happens.removes];
            if (victim === undefined) return;
            removed.add(victim);
            await list.remove(victim);
          };
          const seen = await walk(list, limit, meanwhile);
          expect(new Set(seen).size).toBe(seen.length);
          const stayed = there.filter((id) => !removed.has(id));
          expect(stayed.filter((id) => !seen.includes(id))).toEqual([]);
          expect(await walk(list, 100, async () => undefined)).toHaveLength((await countNow(list)).length);
          for (const id of [...there, ...added]) await list.remove(id);
        },
      ),
      { numRuns: 12 },
    );
  });

  it.each(['0', '101', '1e3', '', '+5', '-1', '1.0', '0x5', '١', '1000000000000', '5&limit=5'])(
    'refuses limit=%s',
    async (limit) => {
      const url = `${list.internal ? api.internalUrl : api.publicUrl}${list.path}?limit=${limit}`;
      const headers = { Authorization: `Bearer ${list.internal ? api.internalSecret : key}` };
      const { status, body } = await sendRequest({ method: 'GET', url: encodeURI(url), headers });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'validation_failed', 'limit']);
    },
  );
});

async function countNow(list: List): Promise<unknown[]> {
  return (await page(list, 'limit=100')).data;
}

describe('the filters of the delivery history', () => {
  const types = ['batch.completed', 'batch.failed', 'consultation.failed', 'webhook.test'] as const;
  const statuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;
  const day = Date.UTC(2026, 10, 2);

  it('return the intersection of all filters given, page by page', async () => {
    const rows: { id: string; event: string; webhook: string; type: string; status: string; at: number }[] = [];
    for (let index = 0; index < 48; index++) {
      const [type = 'batch.failed', status = 'pending'] = [types[index % 4], statuses[(index >> 2) % 4]];
      const webhook = webhookIds[index % 2] as string;
      const at = day + (index % 7);
      const fields = { event_type: type, status, created_at: new Date(at) };
      const { id, eventId } = await insertDelivery(api.db, { organizationId, webhookId: webhook }, fields);
      rows.push({ id, event: eventId, webhook, type, status, at });
    }
    const some = <Item>(items: readonly Item[]) =>
      fc.uniqueArray(fc.constantFrom(...items), { minLength: 1, maxLength: 2 });
    const filters = fc.record(
      {
        webhook_id: fc.constantFrom(...webhookIds),
        event_id: fc.constantFrom(...rows.slice(0, 8).map((row) => row.event)),
        event_type: some(types),
        status: some(statuses),
        order: fc.constantFrom('asc', 'desc'),
        since: fc.integer({ min: day, max: day + 8 }),
        lengthMs: fc.integer({ min: 1, max: 8 }),
      },
      { requiredKeys: ['since'] },
    );
    await fc.assert(
      fc.asyncProperty(filters, async ({ webhook_id, event_id, event_type, status, order, since, lengthMs }) => {
        const until = lengthMs === undefined ? undefined : since + lengthMs;
        const expected = rows
          .filter((row) => webhook_id === undefined || row.webhook === webhook_id)
          .filter((row) => event_id === undefined || row.event === event_id)
          .filter((row) => event_type === undefined || event_type.some((type) => type === row.type))
          .filter((row) => status === undefined || status.some((each) => each === row.status))
          .filter((row) => row.at >= since && (until === undefined || row.at < until));
        const query = new URLSearchParams({ since: new Date(since).toISOString(), limit: '7' });
        if (order !== undefined) query.set('order', order);
        if (until !== undefined) query.set('until', new Date(until).toISOString());
        if (webhook_id !== undefined) query.set('webhook_id', webhook_id);
        if (event_id !== undefined) query.set('event_id', event_id);
        for (const type of event_type ?? []) query.append('event_type', type);
        for (const each of status ?? []) query.append('status', each);
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const answer = await page(lists.deliveries, query.toString() + (cursor === '' ? '' : `&cursor=${cursor}`));
          seen.push(...answer.data.map(({ id }) => id));
          cursor = answer.next_cursor;
        }
        expect(seen.sort()).toEqual(expected.map(({ id }) => id).sort());
      }),
      { numRuns: 60 },
    );
  });

  it.each(['evt_00000000000000000000000000', 'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz'])(
    'an unknown event gives an empty list: %s',
    async (id) => {
      expect((await page(lists.deliveries, `event_id=${id}`)).data).toEqual([]);
    },
  );
});
