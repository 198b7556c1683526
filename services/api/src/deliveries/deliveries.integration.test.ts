import { type DeliveryStatus, deliveryStatuses } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { insertAttempt, insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
withCustomer(async (customer) => {
  ({ api, key, organizationId } = customer);
  webhookId = (await api.createWebhook(key)).id;
});

const path = '/v1/webhooks/deliveries';
const insert = (fields: Parameters<typeof insertDelivery>[2] = {}) =>
  insertDelivery(api.db, { organizationId, webhookId }, fields);

async function list(query = ''): Promise<string[]> {
  const answer = await api.call('get', `${path}${query}`, key).expect(200);
  return answer.body.data.map((delivery: { id: string }) => delivery.id);
}

async function allPages(query: string, limit: number): Promise<string[]> {
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await api.call('get', `${path}?${query}&limit=${limit}${cursor}`, key).expect(200);
    seen.push(...body.data.map((delivery: { id: string }) => delivery.id));
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
  } while (cursor !== '');
  return seen;
}

describe('GET /v1/webhooks/deliveries', () => {
  it('200 with every field of a delivery', async () => {
    const { id, eventId } = await insert({ status: 'pending' });
    const { body } = await api.call('get', path, key).expect(200);
    expect(body).toEqual({
      object: 'list',
      data: [
        {
          id,
          object: 'delivery',
          webhook_id: webhookId,
          event_id: eventId,
          event_type: 'batch.completed',
          subject: null,
          status: 'pending',
          canceled_reason: null,
          attempt_count: 0,
          max_attempts: 10,
          next_attempt_at: expect.any(String),
          waiting_for: 'capacity',
          last_status_code: null,
          last_error: null,
          last_duration_ms: null,
          test: false,
          created_at: expect.any(String),
          completed_at: null,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
  });

  it('200 page by page, newest first, each delivery once, also within one microsecond', async () => {
    const made: string[] = [];
    const anHourAgo = new Date(Date.now() - 3_600_000);
    for (let count = 0; count < 7; count++) made.push((await insert(count < 5 ? { created_at: anHourAgo } : {})).id);
    const uuids = made.map((id) => fromPublicId('dlv', id) as string);
    // Four in one and the same instant, two of them a microsecond apart within one millisecond.
    const instant = anHourAgo.toISOString().replace('Z', '456Z');
    await sql`update deliveries set created_at = ${instant}::timestamptz where id = any (${uuids.slice(0, 4)}::uuid[])`.execute(
      api.db,
    );
    await sql`update deliveries set created_at = ${instant}::timestamptz + interval '1 microsecond' where id = ${uuids[4]}`.execute(
      api.db,
    );
    const seen = await allPages('', 2);
    expect(seen).toEqual([
      made[6],
      made[5],
      made[4],
      ...uuids
        .slice(0, 4)
        .sort()
        .reverse()
        .map((uuid) => made[uuids.indexOf(uuid)]),
    ]);
  });

  it('200 page by page, oldest first, and the same deliveries as newest first', async () => {
    for (let count = 0; count < 5; count++) await insert();
    const newestFirst = await list();
    const seen = await allPages('order=asc', 2);
    expect(seen).toEqual(newestFirst.reverse());
    expect(await list('?order=desc')).toEqual([...seen].reverse());
    expect(await list(`?order=asc&webhook_id=${webhookId}&status=pending`)).toEqual(seen);
  });

  it.each(['', '&since=2026-01-01T00:00:00Z'])(
    '200 page by page by webhook or status%s, as on one page, many of them within one microsecond',
    async (times) => {
      const webhookIds = [webhookId, (await api.createWebhook(key)).id];
      const hour = Date.now() - 3_600_000;
      for (let count = 0; count < 24; count++) {
        const status = deliveryStatuses[count % deliveryStatuses.length] as DeliveryStatus;
        const created_at = new Date(hour + Math.floor(count / 9));
        const owner = { organizationId, webhookId: webhookIds[count % 3 === 0 ? 1 : 0] as string };
        await insertDelivery(api.db, owner, { status, created_at });
      }
      for (const filter of [
        'status=failed',
        'status=failed&status=canceled&status=pending',
        `webhook_id=${webhookId}`,
      ]) {
        for (const order of ['asc', 'desc']) {
          const query = `${filter}&order=${order}${times}`;
          const whole = await list(`?${query}&limit=100`);
          for (const limit of [1, 2, 5]) expect([query, await allPages(query, limit)]).toEqual([query, whole]);
        }
      }
    },
  );

  it('200 by webhook, event, type and status, and by all of them', async () => {
    const other = (await api.createWebhook(key)).id;
    const a = await insert({ event_type: 'batch.failed', status: 'failed' });
    const b = await insert({ event_type: 'batch.failed', status: 'succeeded' });
    const c = await insertDelivery(
      api.db,
      { organizationId, webhookId: other },
      { event_type: 'consultation.failed', status: 'failed' },
    );
    expect(await list(`?webhook_id=${webhookId}`)).toEqual([b.id, a.id]);
    expect(await list(`?event_id=${c.eventId}`)).toEqual([c.id]);
    expect(await list('?event_type=batch.failed')).toEqual([b.id, a.id]);
    expect(await list('?event_type=batch.failed&event_type=consultation.failed')).toEqual([c.id, b.id, a.id]);
    expect(await list('?status=failed')).toEqual([c.id, a.id]);
    expect(await list('?status=failed&status=succeeded')).toEqual([c.id, b.id, a.id]);
    expect(await list(`?webhook_id=${webhookId}&event_id=${a.eventId}&event_type=batch.failed&status=failed`)).toEqual([
      a.id,
    ]);
    expect(await list(`?webhook_id=${other}&event_id=${a.eventId}`)).toEqual([]);
  });

  it('200 from `since` (inclusive) to `until` (exclusive)', async () => {
    const anHourAgo = Date.now() - 3_600_000;
    const at = (ms: number) => new Date(anHourAgo + ms);
    const first = await insert({ created_at: at(0) });
    const second = await insert({ created_at: at(1) });
    const third = await insert({ created_at: at(2) });
    const inCairo = new Date(at(1).getTime() + 2 * 3_600_000).toISOString().replace('Z', '%2B02:00');
    expect(await list(`?since=${at(1).toISOString()}`)).toEqual([third.id, second.id]);
    expect(await list(`?until=${at(1).toISOString()}`)).toEqual([first.id]);
    expect(await list(`?since=${inCairo}&until=${at(2).toISOString()}`)).toEqual([second.id]);
  });

  it('200 and empty for unknown ids, and for those of another organization', async () => {
    const { id, eventId } = await insert();
    const stranger = (await api.createKey()).secret;
    expect(await list('?webhook_id=whk_01jd6kz5r8e2v9qxm3c7t4b0na')).toEqual([]);
    expect(await list('?event_id=evt_01jd6kz5r8e2v9qxm3c7t4b0na')).toEqual([]);
    for (const query of ['', `?webhook_id=${webhookId}`, `?event_id=${eventId}`]) {
      const { body } = await api.call('get', path + query, stranger).expect(200);
      expect(body.data).toEqual([]);
    }
    expect(await list()).toEqual([id]);
  });

  it('200 with pending deliveries of a deleted or disabled webhook shown as canceled', async () => {
    const { id } = await insert();
    const test = await insert({ test: true });
    const webhook = fromPublicId('whk', webhookId) as string;
    await api.db
      .updateTable('webhooks')
      .set({ state: 'disabled', disabled_reason: 'gone' })
      .where('id', '=', webhook)
      .execute();
    expect(await list('?status=canceled')).toEqual([id]);
    expect(await list('?status=pending')).toEqual([test.id]);
    const shown = await api.call('get', `${path}/${id}`, key).expect(200);
    expect(shown.body).toMatchObject({ status: 'canceled', canceled_reason: 'webhook_disabled', waiting_for: null });
    await api.db.updateTable('webhooks').set({ state: 'deleted' }).where('id', '=', webhook).execute();
    expect(await list('?status=canceled')).toEqual([test.id, id]);
    expect(await list('?status=pending')).toEqual([]);
    const { body } = await api.call('get', path, key).expect(200);
    for (const each of body.data)
      expect(each).toMatchObject({
        status: 'canceled',
        canceled_reason: 'webhook_deleted',
        next_attempt_at: null,
        completed_at: expect.any(String),
      });
  });

  it.each([
    ['webhook_id=whk_1', 'webhook_id'],
    ['event_id=whk_01jd6kz5r8e2v9qxm3c7t4b0na', 'event_id'],
    ['event_type=batch.*', 'event_type'],
    ['status=failed&status=lost', 'status[1]'],
    ['since=2026-11-21', 'since'],
    ['until=2026-02-30T00:00:00Z', 'until'],
    ['since=292278994-01-01T00:00:00Z', 'since'],
    ['since=2026-11-21T00:00:00Z&since=2026-11-22T00:00:00Z', 'since'],
    ['order=newest', 'order'],
    ['since=2026-11-21T00:00:00Z&until=2026-11-21T00:00:00Z', 'until'],
    ['since=2026-11-21T00:00:00Z&until=2026-11-20T00:00:00Z', 'until'],
  ])('400 for ?%s', async (query, param) => {
    const answer = await api.call('get', `${path}?${query}`, key).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('400 for a cursor with the other order', async () => {
    await insert();
    await insert();
    const { next_cursor } = (await api.call('get', `${path}?limit=1&order=asc`, key).expect(200)).body;
    const answer = await api.call('get', `${path}?limit=1&cursor=${next_cursor}`, key).expect(400);
    expect(answer.body.error.code).toBe('invalid_cursor');
  });

  it('400 for a cursor with other filters', async () => {
    await insert();
    await insert();
    const { next_cursor } = (await api.call('get', `${path}?limit=1`, key).expect(200)).body;
    const answer = await api.call('get', `${path}?limit=1&status=pending&cursor=${next_cursor}`, key).expect(400);
    expect(answer.body.error.code).toBe('invalid_cursor');
  });

  it('403 without webhooks:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:write'] });
    await api.call('get', path, secret).expect(403);
  });

  it('405 for any other method', async () => {
    const answer = await api.call('delete', path, key).expect(405);
    expect(answer.headers.allow).toBe('GET, HEAD');
  });
});

describe('GET /v1/webhooks/deliveries/{id}', () => {
  it('200 with its attempts, newest first, each with the URL it was sent to, and the request as sent', async () => {
    const { id, eventId } = await insert({ attempt_count: 2 });
    await api
      .call('put', `/v1/webhooks/${webhookId}`, key)
      .send({ events: ['*'] })
      .expect(200);
    await api.call('put', `/v1/webhooks/${webhookId}`, key).send({ url: 'https://second.example.com/' }).expect(200);
    const first = await insertAttempt(api.db, id, { number: 1, webhook_version: 2 });
    const second = await insertAttempt(api.db, id, { number: 2, webhook_version: 3, status_code: 200, manual: true });
    const { body } = await api.call('get', `${path}/${id}`, key).expect(200);
    expect(body.attempts).toEqual([
      expect.objectContaining({
        id: second,
        number: 2,
        trigger: 'manual',
        url: 'https://second.example.com/',
        error: null,
        response_headers: null,
        remote_address: null,
      }),
      {
        id: first,
        number: 1,
        superseded: false,
        trigger: 'scheduled',
        started_at: '2026-11-21T07:01:00.000Z',
        duration_ms: 12,
        status_code: 500,
        error: 'http_error',
        error_message: null,
        response_body: 'answer',
        response_headers: { server: 'nginx' },
        remote_address: '192.0.2.1',
        url: 'https://hooks.example.com/in',
        timings: { dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 4 },
      },
    ]);
    expect(body.request.body).toBe(JSON.stringify({ id: eventId, type: 'batch.completed', data: {} }));
    expect(body.request.headers).toMatchObject({
      'Content-Type': 'application/json',
      'X-Service-Event': 'batch.completed',
      'X-Service-Event-Id': eventId,
      'X-Service-Delivery-Id': id,
      'X-Service-Attempt': '2',
      'webhook-id': eventId,
    });
    expect(Object.keys(body.request.headers).join()).not.toMatch(/signature/i);
  });

  it('200 before the first attempt, and with a null body after retention has removed it', async () => {
    const { id, eventId } = await insert();
    await api.db
      .deleteFrom('event_bodies')
      .where('event_id', '=', fromPublicId('evt', eventId) as string)
      .execute();
    const { body } = await api.call('get', `${path}/${id}`, key).expect(200);
    expect(body).toMatchObject({ attempts: [], request: { headers: { 'X-Service-Attempt': '1' }, body: null } });
    expect(body.request.headers).not.toHaveProperty('Content-Length');
  });

  it('404 with the same body for an unknown id, a malformed one, and one of another organization', async () => {
    const { id } = await insert();
    const stranger = (await api.createKey()).secret;
    const bodies = [];
    for (const each of [id, 'dlv_01jd6kz5r8e2v9qxm3c7t4b0na', 'dlv_x', webhookId]) {
      bodies.push((await api.call('get', `${path}/${each}`, stranger).set('X-Request-Id', 'same').expect(404)).body);
    }
    for (const body of bodies) expect(body).toEqual(bodies[0]);
  });
});
