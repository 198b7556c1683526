import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Usage, usageSchema } from '@enterprise-api/shared/contracts';
import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { insertWebhook, until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi, withCustomer } from '../testing/test-api.ts';
import {
  deliverAt,
  insertAttemptAt,
  insertDeliveryAt,
  insertEventAt,
  untilComplete,
} from '../testing/usage-history.ts';
import { hourMs, startOfHour } from './hours.ts';
import { createSpanCounter } from './rollup.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const none = { requests: 0, refused: 0, bytes_in: 0, bytes_out: 0, events: 0, deliveries: 0, attempts: 0 };

async function read(query = ''): Promise<Usage> {
  return usageSchema.parse((await api.call('get', `/v1/usage${query}`, key).expect(200)).body);
}

/** Writes counts of requests as a process would have. */
async function insertRequests(at: string, counts: { keyId?: string; area?: string; requests: number }) {
  const { keyId = newUuid(), area = 'me', requests } = counts;
  await sql`insert into usage_requests values (${fromPublicId('org', organizationId)}, ${at}, ${keyId}, ${area},
    ${requests}, 1, 10, 1000)`.execute(api.db);
}

describe('GET /v1/usage', () => {
  it('200 with this calendar month by day, the plan and the rate limit, when nothing is asked for', async () => {
    const { body } = await api.call('get', '/v1/usage', key).expect(200);
    const now = new Date();
    const first = (month: number) => new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString();
    expect(body).toEqual({
      object: 'usage',
      organization_id: organizationId,
      plan: 'enterprise',
      rate_limit: { limit: 6_000, window_seconds: 60 },
      since: first(now.getUTCMonth()),
      until: first(now.getUTCMonth() + 1),
      granularity: 'day',
      data: [],
      totals: none,
    });
  });

  it('200 with the requests of a moment ago, the refused ones among them, and the bytes of their bodies', async () => {
    const webhook = JSON.stringify({ url: 'https://hooks.example.com/in', events: ['*'] });
    const { id, secret } = await api.createKey({ organizationId, scopes: ['webhooks:write'] });
    const created = await api
      .call('post', '/v1/webhooks', secret)
      .set('Content-Type', 'application/json')
      .send(webhook);
    const refused = await api.call('get', '/v1/me', secret).expect(403);
    await api.call('head', '/v1/webhooks', key).expect(200);
    await api.call('get', '/v1/batches/1', key).expect(404);
    await api.call('get', '/v1/nothing', key).expect(404);
    const [missing] = [(await api.call('get', '/v1/batches/1', key).expect(404)).text.length];
    const byArea = async () => (await read('?granularity=month&group_by=area')).data;
    await until('the last request is written', async () =>
      (await byArea()).some((entry) => entry.area === 'batches' && entry.requests === 2),
    );
    const ofKey = (await read('?granularity=hour&group_by=key')).data.filter((entry) => entry.key_id === id);
    const sizes = { bytes_in: webhook.length, bytes_out: created.text.length + refused.text.length };
    const start = new Date(startOfHour(Date.now())).toISOString();
    expect(ofKey).toEqual([{ ...none, start, key_id: id, requests: 2, refused: 1, ...sizes }]);
    const areas = (await byArea()).map(({ start: _start, ...entry }) => entry);
    expect(areas).toMatchObject([
      { area: 'batches', requests: 2, refused: 0, bytes_in: 0, bytes_out: 2 * missing },
      { area: 'me', requests: 1, refused: 1, bytes_out: refused.text.length },
      { area: 'usage' },
      { area: 'webhooks', requests: 2, refused: 0, bytes_in: webhook.length, bytes_out: created.text.length },
    ]);
  });

  it('200 with hours, days and months in UTC; empty ones are left out', async () => {
    await insertRequests('2026-02-28T23:00:00Z', { requests: 1 });
    await insertRequests('2026-03-01T00:00:00Z', { requests: 2 });
    await insertRequests('2026-03-01T23:00:00Z', { requests: 4 });
    await insertRequests('2026-03-31T23:00:00Z', { requests: 8 });
    const starts = async (
      granularity: string,
      since = '2026-02-01T00:00:00Z',
      until = '2026-04-01T02:00:00%2B02:00',
    ) => {
      const { data, totals } = await read(`?since=${since}&until=${until}&granularity=${granularity}`);
      expect(totals.requests).toBe(data.reduce((sum, entry) => sum + entry.requests, 0));
      return data.map(({ start, requests }) => [start.slice(0, 13), requests]);
    };
    expect(await starts('month')).toEqual([
      ['2026-02-01T00', 1],
      ['2026-03-01T00', 14],
    ]);
    expect(await starts('day')).toEqual([
      ['2026-02-28T00', 1],
      ['2026-03-01T00', 6],
      ['2026-03-31T00', 8],
    ]);
    expect(await starts('day', '2026-03-01T01:00:00Z', '2026-03-31T23:00:00Z')).toEqual([['2026-03-01T00', 4]]);
    expect(await starts('hour', '2026-02-28T23:00:00Z', '2026-03-02T00:00:00Z')).toEqual([
      ['2026-02-28T23', 1],
      ['2026-03-01T00', 2],
      ['2026-03-01T23', 4],
    ]);
  });

  it('200 with what no key made in rows of their own by key, and under webhooks by area', async () => {
    const at = startOfHour(Date.now()) - 3 * hourMs;
    const organization = fromPublicId('org', organizationId) as string;
    const webhookId = await insertWebhook(api.db, { organizationId: organization });
    const delivery = await insertDeliveryAt(api.db, await insertEventAt(api.db, organization, at), webhookId, at);
    await insertAttemptAt(api.db, delivery, at, at);
    await deliverAt(api.db, delivery, at + 1, at + 1);
    await insertEventAt(api.db, organization, startOfHour(Date.now()));
    await sql`update usage_progress set counted_until = ${new Date(at)}`.execute(api.db);
    const start = new Date(at).toISOString();
    const keyId = newUuid();
    await insertRequests(start, { keyId, area: 'webhooks', requests: 3 });
    await insertRequests(start, { keyId, area: 'chat', requests: 5 });
    await untilComplete(api.db);
    const count = createSpanCounter(api.db, hourMs / 2);
    await count();
    const ask = async (query: string) =>
      (await read(`?since=${start}&until=${new Date(at + 2 * hourMs).toISOString()}&granularity=hour${query}`)).data;
    const requests = { ...none, start, requests: 8, refused: 2, bytes_in: 20, bytes_out: 2_000 };
    const made = { events: 1, deliveries: 1, attempts: 2 };
    // Half of the hour is counted.
    expect(await ask('')).toEqual([requests]);
    while ((await count()) === 'some');
    expect(await ask('')).toEqual([{ ...requests, ...made }]);
    expect(await ask('&group_by=key')).toEqual([
      { ...requests, key_id: toPublicId('key', keyId) },
      { ...none, start, key_id: null, ...made },
    ]);
    const ofArea = { ...none, start, refused: 1, bytes_in: 10, bytes_out: 1_000 };
    expect(await ask('&group_by=area')).toEqual([
      { ...ofArea, area: 'chat', requests: 5 },
      { ...ofArea, area: 'webhooks', requests: 3, ...made },
    ]);
  });

  it('200 without anything of another organization', async () => {
    await insertRequests('2026-03-01T00:00:00Z', { requests: 1 });
    const stranger = await api.createKey();
    const path = '/v1/usage?since=2026-03-01T00:00:00Z&granularity=month';
    expect((await api.call('get', path, stranger.secret).expect(200)).body.totals).toEqual(none);
  });

  it.each([
    ['since', 'since=2026-03-01T00:30:00Z'],
    ['since', 'since=2026-03-01T00:00:00.001Z'],
    ['since', 'since=2026-03-01T00:00:00%2B05:30'],
    ['since', 'since=yesterday'],
    ['until', 'until=2026-03-01'],
    ['until', 'since=2026-03-01T00:00:00Z&until=2026-03-01T00:00:00Z'],
    ['until', 'since=2999-01-01T00:00:00Z'],
    ['until', 'until=2020-01-01T00:00:00Z'],
    ['granularity', 'granularity=week'],
    ['granularity', 'since=2026-01-01T00:00:00Z&until=2026-02-11T17:00:00Z&granularity=hour'],
    ['granularity', 'since=2023-01-01T00:00:00Z&until=2025-09-27T01:00:00Z'],
    ['granularity', 'since=1970-01-01T00:00:00Z&until=2053-05-01T01:00:00Z&granularity=month'],
    ['group_by', 'group_by=webhook'],
    ['limit', 'limit=5'],
    ['granularity', 'granularity=day&granularity=hour'],
  ])('400 that names %s for ?%s', async (param, query) => {
    const { body } = await api.call('get', `/v1/usage?${query}`, key).expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it.each([
    'since=2026-01-01T00:00:00Z&until=2026-02-11T16:00:00Z&granularity=hour',
    'since=2023-01-01T00:00:00Z&until=2025-09-27T00:00:00Z',
    'since=1970-01-01T00:00:00Z&until=2053-05-01T00:00:00Z&granularity=month',
  ])('200 for a thousand buckets: ?%s', async (query) => {
    expect((await read(`?${query}`)).data).toEqual([]);
  });

  it('400 for more than ten thousand entries, which many keys may lead to', async () => {
    await sql`insert into usage_requests
      select ${fromPublicId('org', organizationId)}, '2026-03-01T00:00:00Z'::timestamptz + make_interval(hours => h),
        ('00000000-0000-7000-8000-' || lpad(k::text, 12, '0'))::uuid, 'me', 1, 0, 0, 0
      from generate_series(1, 100) h, generate_series(1, 101) k`.execute(api.db);
    const path = '/v1/usage?since=2026-03-01T00:00:00Z&until=2026-03-08T00:00:00Z&granularity=hour';
    const { body } = await api.call('get', `${path}&group_by=key`, key).expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param: 'group_by' });
    expect((await api.call('get', path, key).expect(200)).body.totals.requests).toBe(10_100);
  });

  it('401 without a key', async () => {
    await api.call('get', '/v1/usage').expect(401);
  });

  it('403 without usage:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:read'] });
    const { body } = await api.call('get', '/v1/usage', secret).expect(403);
    expect(body.error).toMatchObject({ code: 'forbidden_scope', required_scope: 'usage:read' });
  });

  it('404 for every path below it', async () => {
    for (const path of ['/v1/usage/', '/v1/usage/hours', '/v1/usage/a/b']) await api.call('get', path, key).expect(404);
  });

  it('405 for another method', async () => {
    const { headers } = await api.call('post', '/v1/usage', key).expect(405);
    expect(headers.allow).toBe('GET, HEAD');
  });
});

it('the usage is that of an internal service when the area has an upstream, and counted here all the same', async () => {
  const upstream = createServer((_request, response) => response.writeHead(403).end('theirs')).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const environment = { API_UPSTREAMS: `usage=http://127.0.0.1:${port}` };
  const other = await startTestApi({ database: api.database, environment });
  // Not by the client that holds answers against the OpenAPI document, which describes the API's own answer.
  const answer = await fetch(`${other.publicUrl}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  expect([answer.status, await answer.text()]).toEqual([403, 'theirs']);
  await other.stop();
  upstream.close();
  const { data } = await read('?granularity=month&group_by=area');
  // What the service refuses is no refusal of ours.
  expect(data).toMatchObject([{ area: 'usage', requests: 1, refused: 0, bytes_in: 0, bytes_out: 6 }]);
});

it('the requests of a process are written when it stops', async () => {
  const other = await startTestApi({ database: api.database });
  await other.call('get', '/v1/me', key).expect(200);
  await other.stop();
  const written = api.db
    .selectFrom('usage_requests')
    .select('requests')
    .where('organization_id', '=', fromPublicId('org', organizationId) as string);
  expect(await written.execute()).toEqual([{ requests: 1 }]);
});
