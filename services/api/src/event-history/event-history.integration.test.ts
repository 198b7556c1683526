import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { insertEvents, testEvent } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

async function emit(fields: object = {}): Promise<string> {
  const event = { organization_id: organizationId, type: 'batch.failed', data: { batch_id: 'bat_1' }, ...fields };
  const { body } = await api.internal('post', '/internal/v1/events').send(event).expect(202);
  return body.data[0].id;
}

async function list(query = ''): Promise<string[]> {
  const { body } = await api.call('get', `/v1/events${query}`, key).expect(200);
  return body.data.map(({ id }: { id: string }) => id);
}

const otherKey = async () => (await api.createKey()).secret;

describe('GET /v1/events', () => {
  it('200 with every field of an event', async () => {
    const id = await emit({
      occurred_at: '2026-01-02T03:04:05Z',
      data: { batch_id: 'b', more: [1, null, { x: '1' }] },
    });
    const { body } = await api.call('get', '/v1/events', key).expect(200);
    expect(body).toEqual({
      object: 'list',
      data: [
        {
          id,
          object: 'event',
          type: 'batch.failed',
          subject: null,
          created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
          occurred_at: '2026-01-02T03:04:05.000Z',
          data: { batch_id: 'b', more: [1, null, { x: '1' }] },
          erased_at: null,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
  });

  it('200 newest first, page by page, and oldest first the other way round', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.push(await emit());
    for (const [order, expected] of [
      ['desc', made.toReversed()],
      ['asc', made],
    ] as const) {
      const seen: string[] = [];
      let query = `?limit=2&order=${order}`;
      for (let hasMore = true; hasMore; ) {
        const { body } = await api.call('get', `/v1/events${query}`, key).expect(200);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        hasMore = body.has_more;
        query = `?limit=2&order=${order}&cursor=${body.next_cursor}`;
      }
      expect(seen).toEqual(expected);
    }
  });

  it('200 with a cursor to go on with on every page, oldest first, also on an empty one', async () => {
    const read = async (cursor: string) => {
      const { body } = await api.call('get', `/v1/events?order=asc&type=batch.failed${cursor}`, key).expect(200);
      expect([body.has_more, body.next_cursor]).toEqual([false, expect.any(String)]);
      return { ids: body.data.map(({ id }: { id: string }) => id), next: `&cursor=${body.next_cursor}` };
    };
    const empty = await read('');
    expect(empty.ids).toEqual([]);
    const first = await emit();
    const page = await read(empty.next);
    expect(page.ids).toEqual([first]);
    const nothingNewer = await read(page.next);
    expect(nothingNewer.ids).toEqual([]);
    const second = await emit();
    expect((await read(nothingNewer.next)).ids).toEqual([second]);
    expect((await read(page.next)).ids).toEqual([second]);
  });

  it('200 without the events of the test endpoint', async () => {
    const webhook = await api.createWebhook(key);
    const test = await api.call('post', `/v1/webhooks/${webhook.id}/test`, key).expect(202);
    expect(await list()).toEqual([]);
    await api.call('get', `/v1/events/${test.body.event_id}`, key).expect(404);
    await api.call('get', '/v1/events?type=webhook.test', key).expect(400);
  });

  it('200 by one type, or several', async () => {
    const failed = await emit();
    const completed = await emit({ type: 'batch.completed' });
    const consultation = await emit({ type: 'consultation.failed', data: { consultation_id: 'c' } });
    expect(await list('?type=batch.failed')).toEqual([failed]);
    expect(await list('?type=batch.failed&type=consultation.failed')).toEqual([consultation, failed]);
    expect(await list('?order=asc&type=batch.completed&type=batch.failed')).toEqual([failed, completed]);
    expect(await list('?type=consultation.completed')).toEqual([]);
  });

  it('200 of a period, from its start on and before its end, in both orders', async () => {
    const made: string[] = [];
    for (let count = 0; count < 4; count++) made.push(await emit());
    const times: Date[] = [];
    for (const id of made) times.push(new Date((await api.call('get', `/v1/events/${id}`, key)).body.created_at));
    // The rows have microseconds, the answers milliseconds: two events may have the same.
    const [since, until] = [times[1], times[3]].map((time) => time?.toISOString());
    const { rows } = await sql<{ id: string }>`
      select id from events where created_at >= ${since}::timestamptz and created_at < ${until}::timestamptz
      order by position`.execute(api.db);
    const ids: string[] = rows.map(({ id }) => toPublicId('evt', id));
    expect(await list(`?order=asc&since=${since}&until=${until}`)).toEqual(ids);
    expect(await list(`?since=${since}&until=${until}`)).toEqual(ids.toReversed());
    expect(ids).toEqual(expect.arrayContaining(made.slice(1, 3)));
    expect(await list('?until=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await list('?since=2099-01-01T00:00:00Z')).toEqual([]);
  });

  it('200 with fewer events on a page that would be too large, and all of them on the pages together', async () => {
    const data = { batch_id: 'b', text: 'x'.repeat(250 * 1024) };
    const event = testEvent(organizationId, { type: 'batch.failed', data });
    for (let count = 0; count < 2; count++) {
      await api
        .internal('post', '/internal/v1/events')
        .send({ events: Array.from({ length: 12 }, () => event) })
        .expect(202);
    }
    const first = await api.call('get', '/v1/events?limit=100', key).expect(200);
    expect(first.body.has_more).toBe(true);
    expect(first.body.data.length).toBeGreaterThan(12);
    expect(first.body.data.length).toBeLessThan(24);
    const second = await api.call('get', `/v1/events?limit=100&cursor=${first.body.next_cursor}`, key).expect(200);
    expect(first.body.data.length + second.body.data.length).toBe(24);
    expect([second.body.has_more, second.body.next_cursor]).toEqual([false, null]);
  });

  it('200 with an empty list for another organization', async () => {
    await emit();
    const { body } = await api.call('get', '/v1/events', await otherKey()).expect(200);
    expect(body.data).toEqual([]);
  });

  it.each([
    'type=nonsense',
    'type=*',
    'order=up',
    'since=yesterday',
    'until=2026-13-01T00:00:00Z',
    'since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z',
    'unknown=1',
    'limit=0',
  ])('400 for %s', async (query) => {
    const { body } = await api.call('get', `/v1/events?${query}`, key).expect(400);
    expect(body.error.code).toBe('validation_failed');
  });

  it('400 invalid_cursor for a cursor of another order, of other filters or of another list', async () => {
    await emit();
    await emit();
    const { body } = await api.call('get', '/v1/events?limit=1', key).expect(200);
    for (const path of [
      `/v1/events?order=asc&cursor=${body.next_cursor}`,
      `/v1/events?type=batch.failed&cursor=${body.next_cursor}`,
      `/v1/webhooks/deliveries?cursor=${body.next_cursor}`,
    ]) {
      const refused = await api.call('get', path, key).expect(400);
      expect(refused.body.error.code).toBe('invalid_cursor');
    }
  });

  it('403 without webhooks:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:write'] });
    for (const path of ['/v1/events', '/v1/events/x']) {
      const { body } = await api.call('get', path, secret).expect(403);
      expect(body.error.required_scope).toBe('webhooks:read');
    }
  });
});

describe('GET /v1/events/{id}', () => {
  it('200 with null for a time that was not given', async () => {
    const id = await emit();
    const { body } = await api.call('get', `/v1/events/${id}`, key).expect(200);
    expect(body).toEqual({
      id,
      object: 'event',
      type: 'batch.failed',
      subject: null,
      created_at: expect.any(String),
      occurred_at: null,
      data: { batch_id: 'bat_1' },
      erased_at: null,
    });
  });

  it('200 with its data as it was emitted: numbers with all their digits, and names that mean something elsewhere', async () => {
    const data =
      '{"batch_id":"b","big":12345678901234567890,"exact":0.1234567890123456789,"__proto__":{"a":1},"é":"\\u2028"}';
    const sent = await api
      .internal('post', '/internal/v1/events')
      .set('Content-Type', 'application/json')
      .send(`{"organization_id":"${organizationId}","type":"batch.failed","data":${data}}`)
      .expect(202);
    const { id } = sent.body.data[0];
    const { body: row } = await api.db
      .selectFrom('events')
      .innerJoin('event_bodies', 'event_bodies.event_id', 'events.id')
      .select('body')
      .orderBy('position', 'desc')
      .executeTakeFirstOrThrow();
    for (const path of [`/v1/events/${id}`, '/v1/events']) {
      const { text } = await api.call('get', path, key).expect(200);
      const shown = text.slice(text.indexOf('"data":{') + '"data":'.length);
      const inBody = String(row).slice(String(row).indexOf('"data":') + '"data":'.length, -1);
      expect(shown.startsWith(inBody)).toBe(true);
      expect(inBody).toContain('12345678901234567890');
    }
  });

  it("404 for an unknown, a malformed and another organization's event", async () => {
    const id = await emit();
    await api.call('get', `/v1/events/${id}`, await otherKey()).expect(404);
    await api.call('get', `/v1/events/${toPublicId('evt', newUuid())}`, key).expect(404);
    await api.call('get', '/v1/events/evt_nonsense', key).expect(404);
    await api.call('get', `/v1/events/${id.replace('evt', 'dlv')}`, key).expect(404);
  });
});

it('an event of a producer that has the ledger open is listed like one of the API', async () => {
  const [written] = await insertEvents(api.db, [testEvent(organizationId)]);
  expect(await list()).toEqual([toPublicId('evt', written?.id as string)]);
});
