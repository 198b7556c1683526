import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { insertEvents, testEvent, until } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { beginningId } from '../event-history/followed-events.ts';
import { openStream, type StreamClient, type StreamMessage } from '../testing/stream-client.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const opened: StreamClient[] = [];
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});

async function open(query = '', headers: Record<string, string> = {}, secret = key): Promise<StreamClient> {
  const url = `${api.publicUrl}/v1/events/stream${query}`;
  const client = await openStream(url, { Authorization: `Bearer ${secret}`, ...headers });
  opened.push(client);
  if (client.answer.status === 200) await until('the session', () => client.messages.length > 0);
  return client;
}

async function emit(fields: object = {}): Promise<string> {
  const event = { organization_id: organizationId, type: 'batch.failed', data: { batch_id: 'bat_1' }, ...fields };
  const { body } = await api.internal('post', '/internal/v1/events').send(event).expect(202);
  return body.data[0].id;
}

const codeOf = ({ answer }: StreamClient) => [answer.status, answer.body?.error.code];
const secretOf = (client: StreamClient) => client.messages[0]?.data.secret as string;
const eventsOf = (client: StreamClient) => client.messages.slice(1) as Required<StreamMessage>[];

describe('GET /v1/events/stream', () => {
  it('200 with the session first, then each event as a delivery would have it, signed with the secret of the stream', async () => {
    const client = await open();
    const { headers } = client.answer;
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect([headers['cache-control'], headers['x-accel-buffering']]).toEqual(['no-store', 'no']);
    expect(headers['x-ratelimit-limit']).toBeDefined();
    expect(client.messages[0]).toEqual({ event: 'session', data: { secret: expect.any(String) } });
    expect(secretOf(client)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const data = { batch_id: 'b', text: 'one\ntwo\r\n\u2028data: x\n\nid: y' };
    const id = await emit({ data });
    await client.ids(1);
    const [message] = eventsOf(client);
    expect(message?.id).toBe(id);
    expect(message?.event).toBeUndefined();
    expect(Object.keys(message?.data ?? {})).toEqual(['headers', 'body']);
    const row = await api.db
      .selectFrom('event_bodies')
      .select('body')
      .where('event_id', '=', fromPublicId('evt', id) as string)
      .executeTakeFirstOrThrow();
    const sent = message?.data as { headers: Record<string, string>; body: string };
    expect(sent.body).toBe(row.body);
    expect(sent.headers).toMatchObject({
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(sent.body)),
      'X-Service-Event': 'batch.failed',
      'X-Service-Event-Id': id,
      'X-Service-Attempt': '1',
      'webhook-id': id,
    });
    const verified = await verifyWebhook({ headers: sent.headers, rawBody: sent.body, secret: secretOf(client) });
    expect(verified.data).toEqual(data);
    const delivery = sent.headers['X-Service-Delivery-Id'] as string;
    expect(delivery).toMatch(/^dlv_[0-9a-z]{26}$/);
    await api.call('get', `/v1/webhooks/deliveries/${delivery}`, key).expect(404);
    expect(
      client
        .text()
        .split('\n')
        .filter((line) => line.startsWith('data: ')),
    ).toHaveLength(2);
  });

  it('200 with a secret and delivery ids of its own for each stream', async () => {
    const [one, two] = [await open(), await open()];
    await emit();
    await Promise.all([one.ids(1), two.ids(1)]);
    expect(secretOf(one)).not.toBe(secretOf(two));
    const ids = [one, two].map((client) => eventsOf(client)[0]?.data.headers?.['X-Service-Delivery-Id']);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('200 with the events that the patterns name', async () => {
    const client = await open('?events=consultation.*&events=batch.completed');
    await emit();
    const consultation = await emit({ type: 'consultation.failed', data: { consultation_id: 'c' } });
    const completed = await emit({ type: 'batch.completed' });
    expect(await client.ids(2)).toEqual([consultation, completed]);
  });

  it('200 without the events of the test endpoint and of other organizations', async () => {
    const client = await open();
    const webhook = await api.createWebhook(key);
    await api.call('post', `/v1/webhooks/${webhook.id}/test`, key).expect(202);
    const stranger = await api.createKey();
    await emit({ organization_id: stranger.organization_id });
    const mine = await emit();
    expect(await client.ids(1)).toEqual([mine]);
  });

  it('200 going on behind after, or behind Last-Event-ID, which wins', async () => {
    const made: string[] = [];
    for (let count = 0; count < 4; count++) made.push(await emit());
    expect(await (await open(`?after=${made[1]}`)).ids(2)).toEqual(made.slice(2));
    expect(await (await open('', { 'Last-Event-ID': made[0] as string })).ids(3)).toEqual(made.slice(1));
    const both = await open(`?after=${made[0]}`, { 'Last-Event-ID': made[2] as string });
    expect(await both.ids(1)).toEqual(made.slice(3));
    const last = await emit();
    expect(await both.ids(2)).toEqual([made[3], last]);
  });

  it('200 with all of many events, once each and in order, more than a page', async () => {
    const first = await emit();
    const made: string[] = [];
    for (let count = 0; count < 3; count++) {
      const written = await insertEvents(
        api.db,
        Array.from({ length: 100 }, () => testEvent(organizationId)),
      );
      made.push(...written.map(({ id }) => toPublicId('evt', id)).toSorted());
    }
    expect(await (await open(`?after=${first}`)).ids(300)).toEqual(made);
  });

  it('200 with an event that a producer wrote with nobody being told', async () => {
    const client = await open();
    const [written] = await insertEvents(api.db, [testEvent(organizationId)]);
    expect(await client.ids(1)).toEqual([toPublicId('evt', written?.id as string)]);
  });

  it('200 telling where it began, so that a client that was cut before its first event misses none', async () => {
    const client = await open();
    const beginning = client.answer.headers['last-event-id'] as string;
    expect(beginning).toMatch(/^evt_[0-9a-z]{26}$/);
    client.close();
    const first = await emit();
    const again = await open('', { 'Last-Event-ID': beginning });
    expect(again.answer.headers['last-event-id']).toBe(beginning);
    expect(await again.ids(1)).toEqual([first]);
    expect(await (await open(`?after=${beginning}`)).ids(1)).toEqual([first]);

    const later = await open();
    expect(later.answer.headers['last-event-id']).toBe(first);
    const second = await emit();
    expect(await (await open('', { 'Last-Event-ID': first })).ids(1)).toEqual([second]);
    expect(await later.ids(1)).toEqual([second]);
  });

  it('200 telling an idle client after a while where it is, as an id without a message', async () => {
    const client = await open('?events=consultation.*');
    const passed = await emit();
    const isNamed = () => client.text().includes(`:\nid: ${passed}\n\n`);
    await until('a comment that names the place', isNamed, { withinMs: 60_000 });
    expect(client.messages).toHaveLength(1);
  });

  it('200 skipping nothing that is committed late, and with nothing twice', async () => {
    const client = await open();
    const trx = await api.db.startTransaction().execute();
    const [late] = await insertEvents(trx, [testEvent(organizationId)]);
    const next = await emit();
    // Begun behind an event that an open transaction may still write before.
    const behind = await open(`?after=${next}`);
    // Begun now, and cut at once: it does not name the event that another one may still come before.
    const { answer } = await open();
    expect(answer.status).toBe(200);
    const named = answer.headers['last-event-id'] as string;
    await trx.commit().execute();
    const lateId = toPublicId('evt', late?.id as string);
    expect(await client.ids(2)).toEqual([lateId, next]);
    const last = await emit();
    expect(await client.ids(3)).toEqual([lateId, next, last]);
    expect(await behind.ids(2)).toEqual([lateId, last]);
    expect(await (await open('', { 'Last-Event-ID': named })).ids(3)).toEqual([lateId, next, last]);
  });

  it('HEAD 200 without a stream', async () => {
    for (let count = 0; count < 12; count++) {
      const { headers, text } = await api.call('head', '/v1/events/stream', key).expect(200);
      expect([headers['content-type'], text]).toEqual(['text/event-stream; charset=utf-8', undefined]);
    }
  });

  it.each(['events=nonsense', 'events=webhook.test', 'events=', 'unknown=1', 'after=x&after=y'])(
    '400 for %s',
    async (query) => {
      expect(codeOf(await open(`?${query}`))).toEqual([400, 'validation_failed']);
    },
  );

  it('403 without webhooks:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:write'] });
    expect(codeOf(await open('', {}, secret))).toEqual([403, 'forbidden_scope']);
  });

  it('404 behind an unknown, a malformed, a foreign and a test event, by either name', async () => {
    const { secret } = await api.createKey();
    const mine = await emit();
    const webhook = await api.createWebhook(key);
    const test = await api.call('post', `/v1/webhooks/${webhook.id}/test`, key).expect(202);
    const ids = [toPublicId('evt', newUuid()), 'evt_nonsense', 'x', mine.replace('evt', 'dlv'), test.body.event_id];
    for (const id of ids) {
      expect([id, ...codeOf(await open(`?after=${id}`))]).toEqual([id, 404, 'not_found']);
      expect(codeOf(await open(`?after=${mine}`, { 'Last-Event-ID': id }))).toEqual([404, 'not_found']);
    }
    expect(codeOf(await open(`?after=${mine}`, {}, secret))).toEqual([404, 'not_found']);
    const beginningOfAnother = (await open('', {}, secret)).answer.headers['last-event-id'] as string;
    expect(codeOf(await open(`?after=${beginningOfAnother}`))).toEqual([404, 'not_found']);
    expect(codeOf(await open('?after='))).toEqual([404, 'not_found']);
  });

  it('410 behind an event from before retention', async () => {
    const id = toPublicId('evt', '01800000-0000-7000-8000-000000000000');
    expect(codeOf(await open(`?after=${id}`))).toEqual([410, 'event_expired']);
    expect(codeOf(await open('', { 'Last-Event-ID': id }))).toEqual([410, 'event_expired']);
    const organization = fromPublicId('org', organizationId) as string;
    const beginning = toPublicId('evt', beginningId(organization, Date.parse('2024-01-01T00:00:00Z')));
    expect(codeOf(await open('', { 'Last-Event-ID': beginning }))).toEqual([410, 'event_expired']);
  });

  it('429 beyond ten streams of an organization, and room again when one has ended', async () => {
    const clients: StreamClient[] = [];
    for (let count = 0; count < 10; count++) clients.push(await open());
    const refused = await open();
    expect(codeOf(refused)).toEqual([429, 'rate_limited']);
    expect(refused.answer.headers['retry-after']).toBe('10');
    const stranger = await api.createKey();
    expect((await open('', {}, stranger.secret)).answer.status).toBe(200);
    clients[0]?.close();
    await until('room for another stream', async () => (await open()).answer.status === 200);
  });

  it('counts for the rate limit once, and for usage what it sent', async () => {
    const before = await api.call('get', '/v1/me', key);
    const client = await open();
    for (let count = 0; count < 3; count++) await emit();
    await client.ids(3);
    const after = await api.call('get', '/v1/me', key);
    const [one, two] = [before, after].map(({ headers }) => headers);
    const remaining = (found: typeof one) => Number(found?.['x-ratelimit-remaining']);
    // Unless a new minute has begun between them.
    const isOneMinute = one?.['x-ratelimit-reset'] === two?.['x-ratelimit-reset'];
    expect(isOneMinute ? remaining(one) - remaining(two) : 2).toBe(2);
    const length = Buffer.byteLength(client.text());
    client.close();
    const isOfStream = (line: Record<string, unknown>) =>
      line.route === '/v1/events/stream' && line.organization_id === organizationId;
    const line = await until('the line of the request', () =>
      api.logLines.map((each) => JSON.parse(each)).find(isOfStream),
    );
    expect(line.status).toBe(200);
    const bytes = async () => {
      const { rows } = await sql<{
        bytes: number;
      }>`select coalesce(sum(bytes_out), 0)::bigint as bytes from usage_requests
        where organization_id = ${fromPublicId('org', organizationId)}`.execute(api.db);
      return rows[0]?.bytes ?? 0;
    };
    await until('the bytes are counted', bytes, { holds: (count) => count >= length, withinMs: 30_000 });
  });
});
